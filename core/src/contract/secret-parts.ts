import type { Rendered, RenderPlan } from './render-plan.ts';

/** Instead of what somebody says about a secret part: who refuses a line quotes words of it. */
export const SECRET_WORDS = 'refuses a secret part of the configuration; what it says of it is not shown';

type Files = Pick<Rendered, 'plan' | 'locate'>;

/** Whether a place is in a part that is marked secret: a section, a backend, a map or a file. */
export function isSecretPlace(rendered: Files, path: string, line?: number): boolean {
  const { files, sections } = rendered.plan;
  if (files.some((file) => file.path === path && file.secret === true)) return true;
  const from = line === undefined ? undefined : rendered.locate(path, line);
  if (from === undefined) return false;
  return sections.some(
    ({ secret, provenance: { snippet, line } }) =>
      secret === true && snippet === from.snippet && line === from.line,
  );
}

/** Whether a plan has secret text in HAProxy's configuration that another one has not. */
export function hasNewSecretText(
  { sections }: Pick<RenderPlan, 'sections'>,
  before: Pick<RenderPlan, 'sections'> | undefined,
): boolean {
  const secret = sections.filter((section) => section.secret === true);
  if (secret.length === 0) return false;
  const known = new Set(before?.sections.map(({ digest }) => digest));
  return secret.some(({ digest }) => !known.has(digest));
}

/** A line of HAProxy's that says where it stopped reading. */
export interface PlacedLine {
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

/** Values of tenants may stand further on in HAProxy's messages, so a place counts at the very beginning only. */
const PLACE =
  /^(?:\[ALERT\]\s+\(\d+\)\s*:\s*)?(?:config\s*:\s*)?(?:[Pp]arsing )?\[(?<path>[^\]\n]+):(?<line>[1-9]\d{0,8})\]\s*:\s*(?<text>.*)$/;

/** The place that a line of HAProxy's messages names; undefined for one that names none. */
export function placedLine(text: string): PlacedLine | undefined {
  const found = PLACE.exec(text.trim())?.groups;
  return found && { path: found['path']!, line: Number(found['line']), text: found['text']! };
}

/** What a pod's HAProxy said, of secret parts their places alone. */
export function withoutSecretWords(words: string, rendered: Files): string {
  const lines = words.split('\n').map((text) => {
    const at = placedLine(text);
    const isSecret = at !== undefined && isSecretPlace(rendered, at.path, at.line);
    return { text, at, isSecret };
  });
  if (!lines.some(({ isSecret }) => isSecret)) return words;
  // Lines without a place may quote the line before them.
  return lines
    .flatMap(({ text, at, isSecret }) => {
      if (at === undefined) return [];
      return isSecret ? `[${at.path}:${at.line}] : ${SECRET_WORDS}` : text;
    })
    .join('\n');
}

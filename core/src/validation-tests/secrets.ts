import type { Json } from '../contract/object.ts';
import { isJsonObject } from '../contract/merge-json.ts';
import type { Rendered, RenderPlan } from '../contract/render-plan.ts';
import { MAIN_CONFIG } from '../contract/paths.ts';

const HIDDEN = '(secret)';

/** The lines of the main configuration, those of secret sections hidden. */
function mainLines({ plan, files }: Rendered): readonly string[] {
  const decoder = new TextDecoder();
  const bytes = files.read(MAIN_CONFIG);
  let at = 0;
  // Sections are whole lines, one after the other.
  return plan.sections.flatMap(({ length, secret }, index) => {
    const isLast = index === plan.sections.length - 1;
    const lines = decoder.decode(bytes.subarray(at, isLast ? undefined : at + length)).split('\n');
    at += length;
    const own = isLast ? lines : lines.slice(0, -1);
    return secret === true ? own.map(() => HIDDEN) : own;
  });
}

/** The lines of a file that may be shown to whoever reads a report; undefined where none may. */
export function shownLines(rendered: Rendered, path: string): readonly string[] | undefined {
  const entry = rendered.files.entries.find((candidate) => candidate.path === path);
  if (entry === undefined || entry.secret === true || entry.kind === 'certificate') return undefined;
  if (path === MAIN_CONFIG && rendered.plan.sections.some(({ secret }) => secret === true))
    return mainLines(rendered);
  return new TextDecoder().decode(rendered.files.read(path)).split('\n');
}

/** Keywords of servers may be of a secret section, and entries of a secret map are in the plan as they are. */
export function isSecretPlan({ maps, sections }: RenderPlan): boolean {
  return Object.values(maps).some(({ secret }) => secret) || sections.some(({ secret }) => secret === true);
}

export function isSecretObject(value: Json): boolean {
  return isJsonObject(value) && value['kind'] === 'Secret';
}

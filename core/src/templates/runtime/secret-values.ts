import type { KubeObject, StoreView } from '../../contract/index.ts';
import { decodeBase64 } from './pem.ts';

/** Shorter texts are in any Secret. */
const SHORTEST_QUOTE = 4;
/** Shorter words are in any message. */
const SHORTEST_WORD = 6;
const HIDDEN = '"[secret]"';
const QUOTED = /"(?:[^"\\]|\\.)*"/g;
/** What stands for the expression of the place; templates are no secrets. */
const EXPRESSION = '"{}"';

function secretsOf(view: StoreView): readonly KubeObject[] {
  return view.watches.flatMap((name) => {
    const watch = view.watch(name);
    return [...watch.list(), ...watch.unavailable()].filter(({ kind }) => kind === 'Secret');
  });
}

function decoded(base64: string): readonly string[] {
  try {
    return [decodeBase64(base64)];
  } catch {
    return [];
  }
}

/** Everything that the Secrets of a view hold, encoded and decoded. */
function valuesOf(view: StoreView): readonly string[] {
  return secretsOf(view).flatMap(({ data, stringData }) => [
    ...textsOf(data).flatMap((text) => [text, ...decoded(text)]),
    ...textsOf(stringData),
  ]);
}

function textsOf(data: unknown): readonly string[] {
  if (typeof data !== 'object' || data === null) return [];
  return Object.values(data).filter((value) => typeof value === 'string');
}

/** The quoted text, which may have been cut. */
function unquoted(quoted: string): string {
  try {
    return (JSON.parse(quoted) as string).replace(/…$/, '');
  } catch {
    return quoted.slice(1, -1);
  }
}

/**
 * A message about a template without what it shows of Secrets: it is logged, and published with the object that it is about.
 *
 * @param isSecret It is about a part that is marked secret: nothing of any value is shown.
 */
export function withoutSecretValues(message: string, view: StoreView, isSecret: boolean): string {
  const values = valuesOf(view);
  const words = [...values, ...values.flatMap((value) => value.split(/[\s:,;]+/))].filter(
    (word) => word.length >= SHORTEST_WORD,
  );
  const shows = (text: string): boolean =>
    words.some((word) => text.includes(word)) ||
    (text.length >= SHORTEST_QUOTE && values.some((value) => value.includes(text)));
  let hidden = message.replaceAll(QUOTED, (quoted) =>
    quoted !== EXPRESSION && (isSecret || shows(unquoted(quoted))) ? HIDDEN : quoted,
  );
  for (const word of words) hidden = hidden.replaceAll(word, '[secret]');
  return hidden;
}

import { Refused } from '../contract/errors.ts';
import { isJsonObject } from '../contract/merge-json.ts';
import type { Json } from '../contract/object.ts';

/** One step into a value. */
type Step =
  | { readonly kind: 'member'; readonly name: string }
  | { readonly kind: 'item'; readonly index: number }
  | { readonly kind: 'all' }
  /** Those of which a member, found by its own steps, equals a value. */
  | { readonly kind: 'where'; readonly path: readonly Step[]; readonly value: Json };

/** A path of RFC 9535 as far as it names places: members, items, wildcards, and filters of equality. No scripts, no recursion. */
export interface JsonPath {
  readonly steps: readonly Step[];
  /** It names one place at most: no wildcard, no filter. */
  readonly single: boolean;
}

const SYNTAX =
  'a path is like $.spec.ports[0].name, $.items[*], $["a.b"] or $.conditions[?@.type == "Ready"].status';

/** Each is tried at the place that was reached; the first that matches is taken. */
const tokens = {
  member: /\.([A-Za-z_][\w-]*)/y,
  all: /\.\*|\[\*\]/y,
  item: /\[(-?\d{1,9})\]/y,
  quoted: /\[("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')\]/y,
  filter:
    /\[\?(\(?)\s*@((?:\.[A-Za-z_][\w-]*|\["(?:[^"\\]|\\.)*"\]|\['(?:[^'\\]|\\.)*'\]|\[-?\d{1,9}\])+)\s*==\s*/y,
  literal: /("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|-?\d+(?:\.\d+)?|true|false|null)\s*(\)?)\]/y,
} as const;

class Reader {
  readonly text: string;
  at: number;

  constructor(text: string, at: number) {
    this.text = text;
    this.at = at;
  }

  take(token: RegExp): RegExpExecArray | undefined {
    token.lastIndex = this.at;
    const found = token.exec(this.text) ?? undefined;
    if (found !== undefined) this.at = token.lastIndex;
    return found;
  }

  refuse(): never {
    const place = this.at >= this.text.length ? 'its end' : `character ${this.at + 1}`;
    throw new Refused(`path "${this.text}" is not understood at ${place}: ${SYNTAX}`);
  }
}

function literal(text: string, reader: Reader): Json {
  const isSingle = text.startsWith("'");
  const json = isSingle ? `"${text.slice(1, -1).replaceAll("\\'", "'").replaceAll('"', '\\"')}"` : text;
  try {
    return JSON.parse(json) as Json;
  } catch {
    return reader.refuse();
  }
}

function filter(reader: Reader, [, open, path = '']: RegExpExecArray): Step {
  const value = reader.take(tokens.literal) ?? reader.refuse();
  if ((open === '(') !== (value[2] === ')')) reader.refuse();
  const inner = new Reader(path, 0);
  return { kind: 'where', path: steps(inner), value: literal(value[1]!, reader) };
}

function step(reader: Reader): Step {
  const member = reader.take(tokens.member);
  if (member !== undefined) return { kind: 'member', name: member[1]! };
  if (reader.take(tokens.all) !== undefined) return { kind: 'all' };
  const item = reader.take(tokens.item);
  if (item !== undefined) return { kind: 'item', index: Number(item[1]) };
  const quoted = reader.take(tokens.quoted);
  if (quoted !== undefined) return { kind: 'member', name: literal(quoted[1]!, reader) as string };
  const condition = reader.take(tokens.filter);
  return condition === undefined ? reader.refuse() : filter(reader, condition);
}

function steps(reader: Reader): readonly Step[] {
  const found: Step[] = [];
  while (reader.at < reader.text.length) found.push(step(reader));
  return found;
}

/** @throws Refused for text that is no path. */
export function parseJsonPath(text: string): JsonPath {
  const reader = new Reader(text, 0);
  if (!text.startsWith('$')) reader.refuse();
  reader.at = 1;
  const found = steps(reader);
  return { steps: found, single: found.every(({ kind }) => kind === 'member' || kind === 'item') };
}

function children(value: Json): readonly Json[] {
  if (Array.isArray(value)) return value as readonly Json[];
  return isJsonObject(value) ? Object.values(value).filter((member) => member !== undefined) : [];
}

function follow(value: Json, next: Step): readonly Json[] {
  switch (next.kind) {
    case 'member': {
      const found = isJsonObject(value) && Object.hasOwn(value, next.name) ? value[next.name] : undefined;
      return found === undefined ? [] : [found];
    }
    case 'item': {
      const found = Array.isArray(value) ? (value as readonly Json[]).at(next.index) : undefined;
      return found === undefined ? [] : [found];
    }
    case 'all':
      return children(value);
    case 'where':
      return children(value).filter((child) => walk(child, next.path)[0] === next.value);
  }
}

function walk(value: Json, path: readonly Step[]): readonly Json[] {
  return path.reduce<readonly Json[]>(
    (values, next) => values.flatMap((found) => follow(found, next)),
    [value],
  );
}

/** What is at the places that a path names, in order. */
export function readJsonPath({ steps: path }: JsonPath, value: Json): readonly Json[] {
  return walk(value, path);
}

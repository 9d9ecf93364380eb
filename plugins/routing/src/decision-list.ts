import type { ObjectRef } from '@haptic/core/contract';
import { digest } from './digest.ts';
import type { MapEntry } from './map-entry.ts';

/** A map line must stay below HAProxy's buffer: longer lists are split into parts. */
const longestPart = 12_000;

export interface DecisionList {
  readonly id: string;
  /** The list and the parts that it refers to. */
  readonly entries: readonly MapEntry[];
}

/** An ordered list of rules under the name of its content; `@id` in it stands for another list. */
export function decisionList(rules: readonly string[], objects: readonly ObjectRef[]): DecisionList {
  const parts = splitIntoParts(rules);
  const [only] = parts;
  if (only !== undefined && parts.length === 1) return listOf(only, objects);
  const lists = parts.map((part) => listOf(part, objects));
  const whole = decisionList(
    lists.map(({ id }) => `@${id}`),
    objects,
  );
  return { id: whole.id, entries: [...whole.entries, ...lists.flatMap(({ entries }) => entries)] };
}

function listOf(rules: readonly string[], objects: readonly ObjectRef[]): DecisionList {
  const text = rules.join(',');
  const id = digest(text);
  return { id, entries: [{ key: id, value: text, objects }] };
}

function splitIntoParts(rules: readonly string[]): readonly (readonly string[])[] {
  const parts: string[][] = [];
  let length = Infinity;
  for (const rule of rules) {
    if (length + rule.length + 1 > longestPart) {
      parts.push([]);
      length = 0;
    }
    parts.at(-1)?.push(rule);
    length += rule.length + 1;
  }
  return parts;
}

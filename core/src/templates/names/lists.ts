import type { TemplateHelper } from '../../contract/index.ts';
import { asFunction, asList, asNumber, asObject, asText } from './arguments.ts';

/** More would be refused as a list anyway. */
const LONGEST_RANGE = 1_000_000;

function keyOf(value: unknown): string | number {
  if (typeof value === 'string' || typeof value === 'number') return value;
  throw new Error('the function must yield a text or a number');
}

function compareKeys(a: string | number, b: string | number): number {
  if (typeof a !== typeof b) throw new Error('texts and numbers cannot be ordered among each other');
  return a < b ? -1 : a > b ? 1 : 0;
}

function length(value: unknown): number {
  if (typeof value === 'string' || Array.isArray(value)) return value.length;
  return Object.keys(asObject(value)).length;
}

function sortBy(list: unknown, key: unknown): unknown[] {
  const keyFor = asFunction(key);
  const keyed = asList(list).map((item) => ({ item, key: keyOf(keyFor(item)) }));
  return keyed.sort((a, b) => compareKeys(a.key, b.key)).map(({ item }) => item);
}

function groupBy(list: unknown, key: unknown): { key: string | number; items: unknown[] }[] {
  const keyFor = asFunction(key);
  const groups = Map.groupBy(asList(list), (item) => keyOf(keyFor(item)));
  return [...groups].map(([key, items]) => ({ key, items }));
}

function unique(list: unknown, key: unknown): unknown[] {
  if (key === undefined) return [...new Set(asList(list))];
  const keyFor = asFunction(key);
  const seen = new Set<unknown>();
  return asList(list).filter((item) => {
    const found = keyFor(item);
    return !seen.has(found) && seen.add(found);
  });
}

function range(first: unknown, second: unknown): number[] {
  const from = second === undefined ? 0 : asNumber(first);
  const count = asNumber(second ?? first) - from;
  if (!Number.isInteger(from) || !Number.isInteger(count)) throw new Error('expected whole numbers');
  if (count > LONGEST_RANGE) throw new Error(`more than ${LONGEST_RANGE} numbers`);
  return Array.from({ length: Math.max(0, count) }, (_, i) => from + i);
}

export const listHelpers: readonly TemplateHelper[] = [
  {
    name: 'length',
    signature: 'length(value) → number',
    doc: 'Characters of a text, items of a list, keys of an object.',
    minArgs: 1,
    maxArgs: 1,
    call: length,
  },
  {
    name: 'keys',
    signature: 'keys(object) → list',
    doc: 'The keys of an object, sorted.',
    minArgs: 1,
    maxArgs: 1,
    call: (object) => Object.keys(asObject(object)).sort(),
  },
  {
    name: 'values',
    signature: 'values(object) → list',
    doc: 'The values of an object, in the order of its sorted keys.',
    minArgs: 1,
    maxArgs: 1,
    call: (value) => {
      const object = asObject(value);
      return Object.keys(object)
        .sort()
        .map((key) => object[key]);
    },
  },
  {
    name: 'sortBy',
    signature: 'sortBy(list, item => key) → list',
    doc: 'Ordered by a text (code units) or number of each item; equal ones keep their order.',
    minArgs: 2,
    maxArgs: 2,
    call: sortBy,
  },
  {
    name: 'groupBy',
    signature: 'groupBy(list, item => key) → list of {key, items}',
    doc: 'Items with equal keys together, in the order of first appearance.',
    minArgs: 2,
    maxArgs: 2,
    call: groupBy,
  },
  {
    name: 'unique',
    signature: 'unique(list, item => key?) → list',
    doc: 'Each item once, the first of equal ones.',
    minArgs: 1,
    maxArgs: 2,
    call: unique,
  },
  {
    name: 'range',
    signature: 'range(from?, to) → list',
    doc: 'Whole numbers from `from` (or 0) up to, not including, `to`.',
    minArgs: 1,
    maxArgs: 2,
    call: range,
  },
  {
    name: 'join',
    signature: 'join(list, separator) → text',
    doc: 'The texts of a list with a separator between them.',
    minArgs: 2,
    maxArgs: 2,
    call: (list, separator) => {
      const parts = asList(list).map(asText);
      const total = parts.reduce((sum, part) => sum + part.length, parts.length * asText(separator).length);
      if (total > 1024 * 1024) throw new Error('the text becomes too long');
      return parts.join(asText(separator));
    },
  },
];

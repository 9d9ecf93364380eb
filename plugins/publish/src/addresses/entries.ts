import { isDeepStrictEqual } from 'node:util';
import { addressText, type Address } from './address.ts';

/** An entry of `status.loadBalancer.ingress`, which may have more fields than we write. */
type Entry = Readonly<Record<string, unknown>>;

/**
 * The entries as they should be: those of others as they are, in their order, and ours.
 *
 * @param written All that was ever written by us and may still stand there.
 * @returns undefined where nothing is to be changed
 */
export function entriesWith(
  live: readonly Entry[],
  ours: readonly Address[],
  written: ReadonlySet<string>,
): readonly Entry[] | undefined {
  const wanted = new Map(ours.map((address) => [addressText(address), address]));
  const kept = live.filter((entry) => wanted.has(wordOf(entry)) || !written.has(wordOf(entry)));
  const there = new Set(kept.map(wordOf));
  const missing = [...wanted].flatMap(([word, address]) => (there.has(word) ? [] : [address]));
  const next = [...kept, ...missing];
  return isDeepStrictEqual(next, live) ? undefined : next;
}

/** Of an object that nobody has checked. */
export function entriesOf(object: Readonly<Record<string, unknown>>): readonly Entry[] {
  const ingress = memberOf(memberOf(object['status'], 'loadBalancer'), 'ingress');
  return Array.isArray(ingress) ? (ingress as Entry[]) : [];
}

function wordOf(entry: Entry): string {
  const word = memberOf(entry, 'ip') ?? memberOf(entry, 'hostname');
  return typeof word === 'string' ? word : '';
}

function memberOf(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  return (value as Readonly<Record<string, unknown>>)[key];
}

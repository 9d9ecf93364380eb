/** What a list has where another one differs from it, and what follows in both alike. */
export interface Window<T> {
  readonly next: readonly T[];
  readonly before: readonly T[];
  /** Where it begins, in both lists. */
  readonly start: number;
  /** Index in the whole next list of what follows it. */
  readonly end: number;
}

/**
 * Both lists without what they begin and end with alike: the rest is short after a small change, and only the rest is compared by
 * name.
 */
export function differing<T>(
  next: readonly T[],
  before: readonly T[],
  same: (a: T, b: T) => boolean,
): Window<T> {
  if (next === before) return { next: [], before: [], start: next.length, end: next.length };
  const shorter = Math.min(next.length, before.length);
  let start = 0;
  while (start < shorter && same(next[start]!, before[start]!)) start++;
  let tail = 0;
  while (tail < shorter - start && same(next[next.length - 1 - tail]!, before[before.length - 1 - tail]!)) {
    tail++;
  }
  const end = next.length - tail;
  return { next: next.slice(start, end), before: before.slice(start, before.length - tail), start, end };
}

export type Change = 'added' | 'changed' | 'removed';

/** Calls back for every item of lists that are sorted by key, where they differ. */
export function compareSorted<T>(
  { next, before }: Pick<Window<T>, 'next' | 'before'>,
  keyOf: (item: T) => string,
  same: (a: T, b: T) => boolean,
  report: (next: T | undefined, before: T | undefined) => void,
): void {
  let at = 0;
  for (const item of next) {
    const key = keyOf(item);
    while (at < before.length && keyOf(before[at]!) < key) report(undefined, before[at++]);
    const old = at < before.length && keyOf(before[at]!) === key ? before[at++] : undefined;
    if (old === undefined || !same(item, old)) report(item, old);
  }
  while (at < before.length) report(undefined, before[at++]);
}

/** What one side has under a key, and the other; undefined where it has nothing. */
export function changeOf(next: unknown, before: unknown): Change {
  if (before === undefined) return 'added';
  return next === undefined ? 'removed' : 'changed';
}

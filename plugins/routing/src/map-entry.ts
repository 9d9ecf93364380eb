import type { ObjectRef } from '@haptic/core/contract';

/** A line of a map, and the objects that it speaks of. */
export interface MapEntry {
  readonly key: string;
  readonly value: string;
  readonly objects: readonly ObjectRef[];
}

/** Entries of several origins in one list, each key once: content-addressed entries of one key are equal. */
export function uniqueEntries(lists: Iterable<readonly MapEntry[]>): readonly MapEntry[] {
  const byKey = new Map<string, MapEntry>();
  for (const list of lists) {
    for (const entry of list) if (!byKey.has(entry.key)) byKey.set(entry.key, entry);
  }
  return [...byKey.values()];
}

/** Entries of several origins whose keys cannot meet. */
export function joinEntries(lists: Iterable<readonly MapEntry[]>): readonly MapEntry[] {
  const joined: MapEntry[] = [];
  for (const list of lists) for (const entry of list) joined.push(entry);
  return joined;
}

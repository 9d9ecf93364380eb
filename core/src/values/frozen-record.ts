/** A frozen record. Without a prototype any name is a plain one, and thousands of names are no trouble to the engine. */
export function frozenRecord<T>(entries: Iterable<readonly [string, T]>): Readonly<Record<string, T>> {
  const record = Object.create(null) as Record<string, T>;
  for (const [name, value] of entries) record[name] = value;
  return Object.freeze(record);
}

/** What a record holds itself: plans that agents keep come back with a prototype, and names are anybody's. */
export function lookup<T>(record: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

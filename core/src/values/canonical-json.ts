function compareKeys([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : Number(a > b);
}

/** JSON with the members of every object in code-unit order, so that equal values have equal texts. Undefined members are left out. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(compareKeys)
    .map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`);
  return `{${members.join(',')}}`;
}

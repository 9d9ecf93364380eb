/** Which hosts a rule is for. Names are lower-case DNS names without a trailing dot. */
export type HostPattern =
  | { readonly kind: 'exact'; readonly name: string }
  /** Exactly one label below the parent: the wildcard of an Ingress. */
  | { readonly kind: 'one-label'; readonly parent: string }
  /** One or more labels below the parent: the wildcard of a Gateway. */
  | { readonly kind: 'suffix'; readonly parent: string }
  | { readonly kind: 'any' };

export const anyHost: HostPattern = Object.freeze({ kind: 'any' });

const longestName = 253;
const label = '[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?';
const hostName = new RegExp(`^${label}(?:\\.${label})*$`);

/** Reads `host`, `*.host` or nothing as objects write them; undefined where it is no host name. */
export function parseHost(
  text: string | undefined,
  wildcard: 'one-label' | 'suffix',
): HostPattern | undefined {
  if (text === undefined || text === '') return anyHost;
  const name = text.toLowerCase();
  const pattern: HostPattern = name.startsWith('*.')
    ? { kind: wildcard, parent: name.slice(2) }
    : { kind: 'exact', name };
  return isValidHost(pattern) ? pattern : undefined;
}

export function isValidHost(pattern: HostPattern): boolean {
  if (pattern.kind === 'any') return true;
  const name = pattern.kind === 'exact' ? pattern.name : pattern.parent;
  return name.length <= longestName && hostName.test(name);
}

/** The pattern's word in the keys of `hosts.map`. */
export function hostKey(pattern: HostPattern): string {
  if (pattern.kind === 'any') return '*';
  if (pattern.kind === 'exact') return pattern.name;
  return pattern.kind === 'one-label' ? `~.${pattern.parent}` : `*.${pattern.parent}`;
}

/** Keys of all patterns that cover every host of this one, itself first, from most to least specific. */
export function coveringKeys(pattern: HostPattern): readonly string[] {
  if (pattern.kind === 'any') return ['*'];
  const keys = [hostKey(pattern)];
  let parent = pattern.kind === 'exact' ? afterLabel(pattern.name) : pattern.parent;
  if (pattern.kind === 'exact' && parent !== undefined) keys.push(`~.${parent}`);
  if (pattern.kind === 'suffix') parent = afterLabel(pattern.parent);
  for (; parent !== undefined; parent = afterLabel(parent)) keys.push(`*.${parent}`);
  keys.push('*');
  return keys;
}

/** The same as names of tables. */
export function coveringTables(portKey: string, pattern: HostPattern): readonly string[] {
  return coveringKeys(pattern).map((key) => `${portKey}/${key}`);
}

function afterLabel(name: string): string | undefined {
  const dot = name.indexOf('.');
  return dot < 0 ? undefined : name.slice(dot + 1);
}

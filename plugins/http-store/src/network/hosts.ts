/** A name, `*.name` for everything below it, or `*` for every public name. */
const PATTERN = /^(?:\*|(?:\*\.)?[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?|\[[0-9a-f:.]+\])$/;

export function isHostPattern(text: string): boolean {
  return PATTERN.test(text);
}

/** Names that lead into the cluster, the machine or the site: `*` does not mean them, they are allowed by name or not at all. */
const INTERNAL = ['svc', 'cluster.local', 'local', 'localhost', 'internal', 'intranet', 'home.arpa', 'lan'];

function isBelow(host: string, suffix: string): boolean {
  return host.endsWith(`.${suffix}`);
}

function isInternal(host: string): boolean {
  // A single word is completed by the search list of the resolver, in a cluster with the names of Services.
  if (!host.includes('.') && !host.startsWith('[')) return true;
  return INTERNAL.some((suffix) => host === suffix || isBelow(host, suffix));
}

function matches(pattern: string, host: string): boolean {
  if (pattern === '*') return !isInternal(host);
  return pattern.startsWith('*.') ? isBelow(host, pattern.slice(2)) : host === pattern;
}

/** Decides which hosts may be asked at all. */
export class HostRules {
  readonly #patterns: readonly string[];

  constructor(patterns: readonly string[]) {
    this.#patterns = patterns;
  }

  /** `host` as the URL parser writes it. */
  allows(host: string): boolean {
    const name = host.replace(/\.$/, '');
    return this.#patterns.some((pattern) => matches(pattern, name));
  }
}

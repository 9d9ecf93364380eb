import { didYouMean, type Provenance } from '../contract/index.ts';
import type { Problems } from './problems.ts';
import type { BaseHarm, ProxyLine } from './proxy-lines.ts';

/** `defaults` by name, and what backends must know of them. */
export class DefaultsByName {
  readonly #lines = new Map<string, ProxyLine>();

  add(line: ProxyLine): void {
    if (line.kind === 'defaults') this.#lines.set(line.name, line);
  }

  has(name: string): boolean {
    return this.#lines.has(name);
  }

  check(
    proxy: { readonly from?: string; readonly provenance: Provenance },
    what: string,
    problems: Problems,
  ): void {
    if (proxy.from === undefined || this.#lines.has(proxy.from)) return;
    const hint = didYouMean(proxy.from, this.#lines.keys());
    problems.add(proxy.provenance, `${what}: no defaults section is named "${proxy.from}"${hint}`);
  }

  /** Why backends from it stay as they are until a reload; bases inherit from bases. */
  harm(name: string): BaseHarm {
    let harm: BaseHarm = {};
    const seen = new Set<string>();
    let line = this.#lines.get(name);
    while (line !== undefined && !seen.has(line.name)) {
      harm = { ...line.harm, ...harm };
      seen.add(line.name);
      line = line.from === undefined ? undefined : this.#lines.get(line.from);
    }
    return harm;
  }
}

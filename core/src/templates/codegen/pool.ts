import type { Provenance } from '../../contract/index.ts';
import type { Span } from '../expression/ast.ts';
import type { KnownGlobal, KnownHelper } from '../names/known.ts';
import type { TemplateSource } from '../source.ts';

/** A place that compiled code can name by number. */
export interface Site extends Span {
  readonly source: TemplateSource;
}

/** What compiled code refers to by index, so that nothing of a template's text is ever code. */
export class Pool {
  readonly sites: Site[] = [];
  readonly constants: unknown[] = [];
  readonly globals: KnownGlobal[] = [];
  #memos = 0;

  site(source: TemplateSource, { start, end }: Span): number {
    return this.sites.push({ source, start, end }) - 1;
  }

  constant(value: unknown): string {
    return `K[${this.constants.push(value) - 1}]`;
  }

  /** The number of a memo. */
  memo(): number {
    return this.#memos++;
  }

  helper(helper: KnownHelper): string {
    const known = this.constants.indexOf(helper);
    return known === -1 ? this.constant(helper) : `K[${known}]`;
  }

  global(global: KnownGlobal): number {
    const known = this.globals.indexOf(global);
    return known === -1 ? this.globals.push(global) - 1 : known;
  }

  /** The provenance of what a tag declares, without objects. */
  provenance(source: TemplateSource, offset: number): string {
    const { line } = source.place(offset);
    const provenance: Provenance = { snippet: source.name, source: source.owner, line, objects: [] };
    return this.constant(Object.freeze(provenance));
  }
}

import type { MergedConfig } from '../../contract/index.ts';
import type { Span } from '../expression/ast.ts';
import type { NameRegistry } from '../names/registry.ts';
import type { Problems } from '../problems.ts';
import type { TemplateSource } from '../source.ts';
import type { IncludeNode, MacroNode, MemoNode } from '../syntax/nodes.ts';
import type { TextMode, TextShape } from '../text/text-mode.ts';
import type { Pool } from './pool.ts';
import { noReads, type MemoBody, type Reads } from './reads.ts';
import type { Scope, StaticType } from './scope.ts';

/** A macro, with the template that it stands in and the macros that it sees. */
export interface Macro {
  readonly node: MacroNode;
  readonly source: TemplateSource;
  readonly macros: ReadonlyMap<string, Macro>;
}

/** Where a unit's text goes. `main`: nowhere, it declares sections. `body`: into a section or backend. `file`: it is a file. */
export type UnitPlace = 'main' | 'body' | 'file';

export interface IncludeTarget {
  readonly place: UnitPlace;
  readonly shape: TextShape;
  readonly parameters: readonly { readonly name: string; readonly type: StaticType }[];
}

/** What units ask of the compiler of the whole configuration. */
export interface UnitLinker {
  /** The function of a macro in this mode. */
  macroUnit(macro: Macro, mode: TextMode): { readonly js: string; readonly shape: TextShape };
  /** The functions of all snippets that an include names, in order. Unknown names are reported. */
  includeUnits(
    node: IncludeNode,
    from: TemplateSource,
    mode: TextMode,
    target: IncludeTarget,
  ): readonly string[];
}

/** What the parts of one unit's compiler share. */
export class UnitContext {
  readonly source: TemplateSource;
  readonly config: MergedConfig;
  readonly names: NameRegistry;
  readonly macros: ReadonlyMap<string, Macro>;
  readonly mode: TextMode;
  readonly pool: Pool;
  /** Nobody includes the template, so a name that it does not know may be one that it is to be handed. */
  readonly mayBeHanded: boolean;
  readonly #linker: UnitLinker;
  readonly #problems: Problems;
  /** What the unit reads, and the bodies of memos that are being compiled, outermost first. */
  readonly #reads: Reads[] = [noReads()];
  readonly memos: MemoBody[] = [];
  #counter = 0;
  readonly #temporaries: string[] = [];

  constructor(parts: {
    readonly source: TemplateSource;
    readonly config: MergedConfig;
    readonly names: NameRegistry;
    readonly macros: ReadonlyMap<string, Macro>;
    readonly mode: TextMode;
    readonly pool: Pool;
    readonly linker: UnitLinker;
    readonly problems: Problems;
    readonly mayBeHanded: boolean;
  }) {
    this.source = parts.source;
    this.config = parts.config;
    this.names = parts.names;
    this.macros = parts.macros;
    this.mode = parts.mode;
    this.pool = parts.pool;
    this.mayBeHanded = parts.mayBeHanded;
    this.#linker = parts.linker;
    this.#problems = parts.problems;
  }

  problem({ start }: { readonly start: number }, message: string): void {
    this.#problems.add(this.source, start, message);
  }

  site(span: Span): number {
    return this.pool.site(this.source, span);
  }

  get reads(): Reads {
    return this.#reads[0]!;
  }

  readsGlobal(name: string, { start }: Span): void {
    const where = this.source.where(start);
    for (const { globals } of this.#reads) if (!globals.has(name)) globals.set(name, where);
  }

  /** Compiles the body of a memo, and notes what it depends on. */
  memo<T>(node: MemoNode, compile: (reads: Reads) => T): T {
    const reads = noReads();
    this.#reads.push(reads);
    this.memos.push({ node, source: this.source, reads });
    const result = compile(reads);
    this.#reads.pop();
    return result;
  }

  /** A new name in the compiled code. */
  variable(): string {
    return `v${this.#counter++}`;
  }

  temporary(): string {
    const name = `t${this.#counter++}`;
    this.#temporaries.push(name);
    return name;
  }

  get temporaries(): readonly string[] {
    return this.#temporaries;
  }

  macroUnit(macro: Macro): { readonly js: string; readonly shape: TextShape } {
    const unit = this.#linker.macroUnit(macro, this.mode);
    for (const reads of this.#reads) reads.units.add(unit.js);
    return unit;
  }

  includeUnits(node: IncludeNode, target: IncludeTarget): readonly string[] {
    const units = this.#linker.includeUnits(node, this.source, this.mode, target);
    for (const reads of this.#reads) for (const unit of units) reads.units.add(unit);
    return units;
  }

  visibleNames(scope: Scope): string[] {
    return [
      ...scope.names(),
      ...this.names.globals.keys(),
      ...this.names.helpers.keys(),
      ...this.macros.keys(),
    ];
  }
}

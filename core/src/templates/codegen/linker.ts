import { didYouMean, type MergedConfig } from '../../contract/index.ts';
import type { NameRegistry } from '../names/registry.ts';
import { Problems } from '../problems.ts';
import type { TemplateSource } from '../source.ts';
import type { Body, IncludeNode } from '../syntax/nodes.ts';
import type { TextMode, TextShape } from '../text/text-mode.ts';
import { Flow } from './flow.ts';
import { Pool } from './pool.ts';
import { checkMemos, type MemoBody, type Reads } from './reads.ts';
import { Scope, type StaticType } from './scope.ts';
import { bodiesOf } from '../syntax/nodes.ts';
import { shapeOf, withoutLastLineEnd } from './shape.ts';
import { UnitCompiler, type UnitSource } from './unit.ts';
import { UnitContext, type IncludeTarget, type Macro, type UnitLinker } from './unit-context.ts';

/** A parsed template with the macros that it sees. */
export interface Template {
  readonly source: TemplateSource;
  readonly body: Body;
  readonly macros: ReadonlyMap<string, Macro>;
}

interface Unit {
  readonly js: string;
  readonly template: Pick<Template, 'source' | 'macros'>;
  readonly from: UnitSource;
  readonly mode: TextMode;
  readonly parameters: IncludeTarget['parameters'];
  /** Of a macro: defaults of parameters are part of its body. */
  readonly macro: Macro | undefined;
  /** Nothing calls it but the render itself. */
  readonly isRoot: boolean;
  /** Nothing includes it: what it is to be handed is not known. */
  readonly mayBeHanded?: true;
}

/** More passes would mean that states of loops never settle, which their merging rules out. */
const PASSES = 50;

/**
 * Compiles all units (templates and macros, each for the places it is used in) and joins them to one program. A unit is
 * compiled once for every combination of mode, place, shape and names that are handed to it.
 */
export class Linker implements UnitLinker {
  readonly pool = new Pool();
  readonly #config: MergedConfig;
  readonly #names: NameRegistry;
  readonly #problems: Problems;
  readonly #snippets: ReadonlyMap<string, Template>;
  readonly #dropped: ReadonlySet<string>;
  readonly #units = new Map<string, Unit>();
  readonly #waiting: Unit[] = [];
  /** Templates that something is made of. */
  readonly #used = new Set<TemplateSource>();
  readonly #reads = new Map<string, Reads>();
  readonly #memos: MemoBody[] = [];

  constructor(parts: {
    readonly config: MergedConfig;
    readonly names: NameRegistry;
    readonly problems: Problems;
    readonly snippets: ReadonlyMap<string, Template>;
    readonly dropped: ReadonlySet<string>;
  }) {
    this.#config = parts.config;
    this.#names = parts.names;
    this.#problems = parts.problems;
    this.#snippets = parts.snippets;
    this.#dropped = parts.dropped;
  }

  /** The function of a template that is no snippet. */
  root(template: Template, mode: TextMode, place: 'main' | 'file'): string {
    const from: UnitSource = { body: template.body, place, shape: 'lines' };
    return this.#unit(`root ${template.source.name}`, {
      template,
      from,
      mode,
      parameters: [],
      macro: undefined,
      isRoot: true,
    });
  }

  /**
   * Checks the snippets that nothing includes or imports, as part of HAProxy's configuration: their mistakes are found now and
   * not when somebody includes them. To be called when everything else is compiled.
   */
  checkUnused(mode: TextMode): void {
    for (const [name, template] of this.#snippets) {
      if (this.#used.has(template.source)) continue;
      const place = this.#declaresSections(template.body, new Set()) ? 'main' : 'body';
      const from: UnitSource = { body: template.body, place, shape: 'lines' };
      const unit = { template, from, mode, parameters: [], macro: undefined, isRoot: false };
      this.#unit(`unused ${name}`, { ...unit, mayBeHanded: true });
      this.code();
    }
  }

  /** Itself or by what it includes: then it stands between sections. */
  #declaresSections(body: Body, seen: Set<Body>): boolean {
    if (seen.has(body)) return false;
    seen.add(body);
    return body.some((node) => {
      if (node.kind === 'section' || node.kind === 'backend' || node.kind === 'profiles') return true;
      const included = node.kind === 'include' ? this.includedNames(node) : [];
      const bodies = [...bodiesOf(node), ...included.map((name) => this.#snippets.get(name)!.body)];
      return bodies.some((inner) => this.#declaresSections(inner, seen));
    });
  }

  macroUnit(macro: Macro, mode: TextMode): { readonly js: string; readonly shape: TextShape } {
    const { node, source, macros } = macro;
    const shape = shapeOf(node.body);
    const parameters = node.parameters.map(({ name }) => ({ name: name.name, type: 'value' as const }));
    const from: UnitSource = { body: node.body, place: mode.name === 'haproxy' ? 'body' : 'file', shape };
    const key = `macro ${mode.name} ${source.name} ${node.start}`;
    const unit = { template: { source, macros }, from, mode, parameters, macro, isRoot: false };
    return { js: this.#unit(key, unit), shape };
  }

  includeUnits(
    node: IncludeNode,
    from: TemplateSource,
    mode: TextMode,
    target: IncludeTarget,
  ): readonly string[] {
    const names = this.includedNames(node);
    const { value } = node.snippet;
    if (names.length === 0 && !value.includes('*') && !this.#dropped.has(value)) {
      this.#problems.add(
        from,
        node.snippet.start,
        `there is no snippet "${value}"${didYouMean(value, this.#snippets.keys())}`,
      );
    }
    return names.map((name) => this.#include(this.#snippets.get(name)!, mode, target));
  }

  /** The snippets that an include names; a `*` stands for any characters. In code-unit order. */
  includedNames(node: IncludeNode): readonly string[] {
    const parts = node.snippet.value.split('*');
    return [...this.#snippets.keys()].filter((name) => matchesGlob(name, parts)).sort();
  }

  #include(template: Template, mode: TextMode, { place, shape, parameters }: IncludeTarget): string {
    const body = shape === 'inline' ? withoutLastLineEnd(template.body) : template.body;
    if (place !== 'main' && shape === 'inline' && shapeOf(body) === 'lines') {
      this.#problems.add(
        template.source,
        body[0]?.start ?? 0,
        'this snippet is included within a line, and has line breaks: include it alone on a line',
      );
    }
    const given = parameters.map(({ name, type }) => `${name}:${type}`).join(',');
    const key = `include ${mode.name} ${place} ${shape} ${template.source.name} ${given}`;
    const from: UnitSource = { body, place, shape };
    return this.#unit(key, { template, from, mode, parameters, macro: undefined, isRoot: false });
  }

  #unit(key: string, unit: Omit<Unit, 'js'>): string {
    const known = this.#units.get(key);
    if (known !== undefined) return known.js;
    const made = { ...unit, js: `u${this.#units.size}` };
    this.#units.set(key, made);
    this.#used.add(unit.template.source);
    this.#waiting.push(made);
    // Mistakes in macros are found although nothing calls them.
    if (unit.macro === undefined) {
      for (const macro of unit.template.macros.values()) this.macroUnit(macro, unit.mode);
    }
    return made.js;
  }

  /** The code of all units that have been asked for. */
  code(): string {
    const functions: string[] = [];
    for (let unit = this.#waiting.pop(); unit !== undefined; unit = this.#waiting.pop()) {
      functions.push(this.#compile(unit));
    }
    checkMemos(this.#memos, this.#reads, this.#problems);
    return functions.join('\n');
  }

  #compile(unit: Unit): string {
    const flow = new Flow();
    let problems = new Problems();
    let compiled = this.#pass(unit, flow, problems);
    for (let pass = 1; pass < PASSES && flow.next(); pass++) {
      problems = new Problems();
      compiled = this.#pass(unit, flow, problems);
    }
    this.#problems.addAll(problems);
    this.#reads.set(unit.js, compiled.context.reads);
    this.#memos.push(...compiled.context.memos);
    return compiled.code;
  }

  #pass(unit: Unit, flow: Flow, problems: Problems): { code: string; context: UnitContext } {
    const { template, from, mode, macro } = unit;
    const { source, macros } = template;
    const mayBeHanded = unit.mayBeHanded === true;
    const parts = { source, macros, mode, problems, pool: this.pool, linker: this, mayBeHanded };
    const context = new UnitContext({ ...parts, config: this.#config, names: this.#names });
    const compiler = new UnitCompiler(context, flow, from.place);
    const scope = new Scope();
    const parameters = unit.parameters.map(({ name, type }) => declareParameter(context, scope, name, type));
    const defaults = macro === undefined ? '' : macroDefaults(macro, compiler, scope, parameters);
    const body = compiler.unit(from, new Scope(scope));
    const result = from.place === 'main' ? '' : 'return o;';
    const temporaries = context.temporaries.length === 0 ? '' : `let ${context.temporaries.join(', ')};`;
    const enter = unit.isRoot ? '' : 'if (rt.enter(c)) yield;';
    const leave = unit.isRoot ? '' : 'rt.leave();';
    const code = `function* ${unit.js}(${['rt', 'c', ...parameters].join(', ')}) { ${temporaries} ${enter} ${defaults}
${body}
${leave} ${result} }`;
    return { code, context };
  }
}

function declareParameter(context: UnitContext, scope: Scope, name: string, type: StaticType): string {
  const js = context.variable();
  scope.declare(name, { js, type, kind: 'parameter' });
  return js;
}

function macroDefaults(
  macro: Macro,
  compiler: UnitCompiler,
  scope: Scope,
  parameters: readonly string[],
): string {
  return macro.node.parameters
    .map(({ fallback }, i) => {
      if (fallback === undefined) return '';
      const js = parameters[i]!;
      return `if (${js} === undefined) ${js} = ${compiler.expressions.value(fallback, scope)};`;
    })
    .join(' ');
}

function matchesGlob(name: string, parts: readonly string[]): boolean {
  if (parts.length === 1) return name === parts[0];
  const first = parts[0]!;
  const last = parts.at(-1)!;
  if (name.length < first.length + last.length || !name.startsWith(first) || !name.endsWith(last))
    return false;
  let at = first.length;
  const end = name.length - last.length;
  for (const part of parts.slice(1, -1)) {
    const found = name.indexOf(part, at);
    if (found === -1 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
}

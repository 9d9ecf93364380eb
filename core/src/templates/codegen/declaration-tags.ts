import { didYouMean } from '../../contract/index.ts';
import { literalKeys, type Expression } from '../expression/ast.ts';
import { backendKeys } from '../runtime/backend.ts';
import type { BackendNode, SectionNode, StatementNode } from '../syntax/nodes.ts';
import type { ExpressionCompiler } from './expressions.ts';
import type { Scope } from './scope.ts';
import type { UnitContext } from './unit-context.ts';

type SimpleNode = Extract<
  StatementNode,
  { kind: 'profiles' | 'bind' | 'entry' | 'entries' | 'cert' | 'crt' | 'status' }
>;

/** Tags that declare something: they become calls of the render's declarations. */
export class DeclarationCompiler {
  readonly #context: UnitContext;
  readonly #expressions: ExpressionCompiler;

  constructor(context: UnitContext, expressions: ExpressionCompiler) {
    this.#context = context;
    this.#expressions = expressions;
  }

  simple(node: SimpleNode, scope: Scope): string {
    const provenance = this.#context.pool.provenance(this.#context.source, node.start);
    const value = (expression: Expression | undefined): string =>
      expression === undefined ? 'undefined' : this.#expressions.value(expression, scope);
    const call = (method: string, args: readonly string[], at: Expression): string =>
      `rt.declarations.${method}(${[...args, provenance, this.#context.site(at)].join(', ')});`;
    switch (node.kind) {
      case 'profiles':
        return `rt.declarations.profiles(${provenance});`;
      case 'bind':
        return call('bind', [value(node.address)], node.address);
      case 'entry':
        this.#checkMap(node.map);
        return call('entry', [value(node.map), value(node.key), value(node.value)], node.value);
      case 'entries':
        this.#checkMap(node.map);
        return call('entries', [value(node.map), value(node.list)], node.list);
      case 'cert':
        return call('certificate', [value(node.name), value(node.secret)], node.secret);
      case 'crt': {
        const line = [node.list, node.certificate, node.options, node.sni].map(value);
        return call('crtLine', [`[${line.join(', ')}]`], node.certificate);
      }
      case 'status':
        return `rt.declarations.status(${value(node.object)}, ${value(node.conditions)}, ${this.#context.site(node.object)});`;
    }
  }

  /** A map that is named in quotes must be one of the configuration's. */
  #checkMap(map: Expression): void {
    if (map.kind !== 'literal' || typeof map.value !== 'string') return;
    const known = Object.keys(this.#context.config.maps);
    if (known.includes(map.value)) return;
    this.#context.problem(map, `no map is named "${map.value}"${didYouMean(map.value, known)}`);
  }

  /** Calls that begin and end a section or backend; `opened` is the variable between them, `o` its text. */
  container(node: SectionNode | BackendNode, scope: Scope, opened: string): { open: string; close: string } {
    const provenance = this.#context.pool.provenance(this.#context.source, node.start);
    const site = this.#context.site({ start: node.start, end: node.start });
    if (node.kind === 'section') {
      const args = [node.name, node.objects, node.options].map((argument) =>
        argument === undefined ? 'undefined' : this.#expressions.value(argument, scope),
      );
      return {
        open: `rt.declarations.openSection(${args.join(', ')}, ${site})`,
        close: `rt.declarations.closeSection(${opened}, o, ${provenance}, ${site});`,
      };
    }
    this.#checkBackend(node.declaration);
    return {
      open: `rt.declarations.openBackend(${this.#expressions.value(node.declaration, scope)}, ${site})`,
      close: `rt.declarations.closeBackend(${opened}, o, ${provenance}, ${site});`,
    };
  }

  #checkBackend(declaration: Expression): void {
    if (declaration.kind !== 'object') return;
    for (const entry of declaration.entries) {
      if (entry.spread || typeof entry.key !== 'string' || backendKeys.includes(entry.key)) continue;
      const hint = didYouMean(entry.key, backendKeys);
      this.#context.problem(
        entry.keySpan,
        `a backend has no key "${entry.key}"${hint}; known: ${backendKeys.join(', ')}`,
      );
    }
    const keys = literalKeys(declaration);
    if (keys === undefined) return;
    for (const required of ['name', 'from']) {
      if (!keys.has(required)) this.#context.problem(declaration, `a backend needs "${required}"`);
    }
  }
}

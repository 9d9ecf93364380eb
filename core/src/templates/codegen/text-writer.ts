import type { Expression, Span } from '../expression/ast.ts';
import { limits } from '../runtime/limits.ts';
import type { OutputNode, TextNode } from '../syntax/nodes.ts';
import type { EscapeFilter, TextReport, TextShape, TextState } from '../text/text-mode.ts';
import { escapeFilters } from './compiled.ts';
import type { ExpressionCompiler } from './expressions.ts';
import { isText, type Scope } from './scope.ts';
import type { UnitContext } from './unit-context.ts';

const yamlMakers = new Set(['json', 'yaml']);

/** Text can double with every step; it is looked at before it is longer than the engine takes. */
export function checkOutput(site: number): string {
  return `if (o.length > ${limits.output}) rt.checkOutput(o.length, ${site});`;
}

/** Compiles what is written, and carries the state of the text along: one for each unit and captured body. */
export class TextWriter {
  state: TextState;
  readonly #context: UnitContext;
  readonly #expressions: ExpressionCompiler;

  constructor(context: UnitContext, expressions: ExpressionCompiler, state: TextState) {
    this.#context = context;
    this.#expressions = expressions;
    this.state = state;
  }

  #report(offset: number): TextReport {
    return { problem: (message, at = 0) => this.#context.problem({ start: offset + at }, message) };
  }

  text(node: TextNode): string {
    const { code, state } = this.#context.mode.read(this.state, node.text, this.#report(node.start));
    this.state = state;
    return code;
  }

  output(node: OutputNode, scope: Scope): string {
    const { filters, expression } = splitFilters(node.expression);
    const { code, type } = this.#expressions.compile(expression, scope);
    if (isText(type)) return this.#made(node, code, type, filters.size > 0);
    const report = this.#report(node.start);
    const printed = this.#context.mode.print(
      this.state,
      {
        code,
        isPath: type === 'path',
        isYaml: expression.kind === 'call' && yamlMakers.has(expression.name),
        filters,
        alone: node.alone,
        lineEnd: node.lineEnd,
        site: this.#context.site(expression),
      },
      report,
    );
    this.state = printed.state;
    return node.lineEnd ? `${printed.code} ${this.#lineEnd(node)}` : printed.code;
  }

  #lineEnd(node: OutputNode): string {
    const { code, state } = this.#context.mode.read(this.state, '\n', this.#report(node.start));
    this.state = state;
    return code;
  }

  /** Text that a macro or a set block made. */
  #made(node: OutputNode, code: string, shape: 'lines' | 'inline', filtered: boolean): string {
    if (filtered)
      this.#context.problem(node, 'the text of a macro or set block is written already: no filter applies');
    if (shape === 'lines') return this.lines(node, code);
    const inserted = this.inline(node, code);
    return node.lineEnd ? `${inserted} ${this.#lineEnd(node)}` : inserted;
  }

  /** Whole lines, which end with exactly one line end. */
  lines(node: Span & { readonly alone: boolean }, code: string): string {
    if (!node.alone) {
      this.#context.problem(node, 'this text has line breaks and may only stand alone on its line');
    }
    this.state = this.#context.mode.start('lines');
    return `o += withLineEnd(${code}); ${checkOutput(this.#context.site(node))}`;
  }

  inline(node: Span, code: string): string {
    const inserted = this.#context.mode.insert(this.state, this.#report(node.start));
    this.state = inserted.state;
    return `x = ${code}; o += x; ${checkOutput(this.#context.site(node))} ${inserted.code}`;
  }

  end(shape: TextShape, offset: number): string {
    return this.#context.mode.end(this.state, shape, this.#report(offset));
  }
}

/** The last filters of an output say how its value is written; what is before them is the value. */
function splitFilters(expression: Expression): {
  readonly expression: Expression;
  readonly filters: ReadonlySet<EscapeFilter>;
} {
  const filters = new Set<EscapeFilter>();
  let inner = expression;
  while (inner.kind === 'call' && inner.piped && inner.args.length === 1 && escapeFilters.has(inner.name)) {
    filters.add(inner.name as EscapeFilter);
    inner = inner.args[0]!;
  }
  return { expression: inner, filters };
}

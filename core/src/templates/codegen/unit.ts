import type {
  Body,
  ForNode,
  IncludeNode,
  MemoNode,
  Node,
  OutputNode,
  StatementNode,
  TextNode,
} from '../syntax/nodes.ts';
import type { TextShape, TextState } from '../text/text-mode.ts';
import { assign } from './assignment.ts';
import { DeclarationCompiler } from './declaration-tags.ts';
import { ExpressionCompiler } from './expressions.ts';
import type { Flow } from './flow.ts';
import { Scope } from './scope.ts';
import { shapeOf } from './shape.ts';
import { checkOutput, TextWriter } from './text-writer.ts';
import type { UnitContext, UnitPlace } from './unit-context.ts';

/** What one function of the compiled code is made from. */
export interface UnitSource {
  readonly body: Body;
  readonly place: UnitPlace;
  readonly shape: TextShape;
}

/**
 * Compiles a template, or a macro, in one pass. The state at the beginning of a loop's body depends on its end, so the caller
 * repeats the pass with the same `flow` until that settles.
 */
export class UnitCompiler {
  readonly #context: UnitContext;
  readonly #expressions: ExpressionCompiler;
  readonly #declarations: DeclarationCompiler;
  readonly #flow: Flow;
  /** Where text goes; undefined where there may be none (between sections). */
  #writer: TextWriter | undefined;
  #place: UnitPlace;
  /** `break` and `continue` may not leave the innermost of these. */
  #loop: ForNode | undefined;

  constructor(context: UnitContext, flow: Flow, place: UnitPlace) {
    this.#context = context;
    this.#expressions = new ExpressionCompiler(context);
    this.#declarations = new DeclarationCompiler(context, this.#expressions);
    this.#flow = flow;
    this.#place = place;
  }

  get expressions(): ExpressionCompiler {
    return this.#expressions;
  }

  /** The statements of a unit's function. */
  unit({ body, shape }: UnitSource, scope: Scope): string {
    if (this.#place === 'main') return this.#statements(body, scope, true);
    return this.#captured(body, scope, shape, true);
  }

  /** A body whose text goes into an `o` of its own. */
  #captured(body: Body, scope: Scope, shape: TextShape, isTop = false): string {
    const outer = { writer: this.#writer, loop: this.#loop };
    this.#writer = new TextWriter(this.#context, this.#expressions, this.#context.mode.start(shape));
    this.#loop = undefined;
    const code = this.#statements(body, scope, isTop);
    const end = this.#writer.end(shape, body.at(-1)?.end ?? 0);
    this.#writer = outer.writer;
    this.#loop = outer.loop;
    const site = this.#context.site({ start: body[0]?.start ?? 0, end: body[0]?.start ?? 0 });
    return `let o = "", w = -1, x = "", s = 0; ${code} ${end} rt.wrote(o.length, ${site});`;
  }

  #statements(body: Body, scope: Scope, isTop = false): string {
    return body.map((node) => this.#node(node, scope, isTop)).join('\n');
  }

  #block(body: Body, scope: Scope): string {
    return `{ ${this.#statements(body, new Scope(scope))} }`;
  }

  #node(node: Node, scope: Scope, isTop: boolean): string {
    switch (node.kind) {
      case 'text':
        return this.#text(node);
      case 'output':
        return this.#output(node, scope);
      case 'if':
        return this.#if(node, scope);
      case 'for':
        return this.#for(node, scope);
      case 'break':
      case 'continue':
        return this.#leave(node);
      case 'set':
        return this.#set(node, scope);
      case 'set-block':
        return this.#setBlock(node, scope);
      case 'macro':
      case 'import':
        if (!isTop)
          this.#context.problem(
            node,
            `{% ${node.kind} %} stands at the top of a template, in no other block`,
          );
        return '';
      case 'include':
        return this.#include(node, scope);
      case 'do':
        return `${this.#expressions.value(node.call, scope)};`;
      case 'section':
      case 'backend':
        return this.#container(node, scope);
      case 'memo':
        return this.#memo(node, scope);
      default:
        if (node.kind === 'profiles' ? !this.#isMain() : this.#place === 'file') this.#misplaced(node);
        return this.#declarations.simple(node, scope);
    }
  }

  #isMain(): boolean {
    return this.#place === 'main' && this.#writer === undefined;
  }

  #misplaced(node: StatementNode): void {
    const where =
      node.kind === 'section' || node.kind === 'backend' || node.kind === 'profiles'
        ? 'in the main template or a snippet that it includes, in no other section, backend, macro or set block'
        : "in HAProxy's configuration, not in other files";
    this.#context.problem(node, `{% ${node.kind} %} stands ${where}`);
  }

  #text(node: TextNode): string {
    if (this.#writer !== undefined) return this.#writer.text(node);
    // Between sections: blank lines and comments, which lead nowhere.
    const stray = /^[ \t]*[^\s#]/m.exec(node.text);
    if (stray !== null) {
      const at = stray.index + stray[0].length - 1;
      this.#context.problem(
        { start: node.start + at },
        'text outside of {% section %} and {% backend %}, where it would belong to no part of the configuration',
      );
    }
    return '';
  }

  #output(node: OutputNode, scope: Scope): string {
    if (this.#writer !== undefined) return this.#writer.output(node, scope);
    this.#context.problem(
      node,
      'a value is printed outside of {% section %} and {% backend %}; for its effect use {% do %}',
    );
    this.#expressions.compile(node.expression, scope);
    return '';
  }

  #state(): TextState {
    return this.#writer?.state ?? {};
  }

  #setState(state: TextState): void {
    if (this.#writer !== undefined) this.#writer.state = state;
  }

  /** One state for all ways that lead behind a block. */
  #join(node: { readonly start: number }, states: readonly TextState[]): void {
    if (this.#writer === undefined) return;
    let [joined] = states;
    for (const state of states.slice(1)) {
      const merged: TextState | undefined =
        joined === undefined ? state : this.#context.mode.merge(joined, state);
      if (merged === undefined) {
        this.#context.problem(
          node,
          'the ways through this block end differently (inside quotes, or not): close in each what it opens',
        );
        break;
      }
      joined = merged;
    }
    if (joined !== undefined) this.#setState(joined);
  }

  #if(node: Extract<StatementNode, { kind: 'if' }>, scope: Scope): string {
    const before = this.#state();
    const ends: TextState[] = [];
    let code = '';
    for (const { test, body } of node.branches) {
      const condition = this.#expressions.value(test, scope);
      this.#setState(before);
      code += `${code === '' ? '' : ' else '}if (${condition}) ${this.#block(body, scope)}`;
      ends.push(this.#state());
    }
    this.#setState(before);
    if (node.otherwise !== undefined) code += ` else ${this.#block(node.otherwise, scope)}`;
    ends.push(this.#state());
    this.#join(node, ends);
    return code;
  }

  #for(node: ForNode, scope: Scope): string {
    const id = this.#context.variable();
    const site = this.#context.site(node.list);
    const isPairs = node.names.length === 2;
    const list = `${isPairs ? 'pairs' : 'items'}(${this.#expressions.value(node.list, scope)}, ${isPairs ? 'rt, ' : ''}${site})`;
    const before = this.#state();
    const inner = new Scope(scope);
    const variables = node.names.map(({ name }) => {
      const js = this.#context.variable();
      inner.declare(name, { js, type: 'value', kind: 'loop variable' });
      return js;
    });
    inner.declare('loop', { js: id, type: 'value', kind: 'loop' });
    const [first, second] = variables;
    const binding = isPairs
      ? `${first} = pairKey(l${id}, i${id}), ${second} = pairValue(l${id}, i${id}, ${site})`
      : `${first} = l${id}[i${id}]`;
    const body = this.#loopBody(node, inner, before);
    const grows = this.#writer === undefined ? '' : checkOutput(site);
    const after = this.#state();
    this.#setState(before);
    const otherwise =
      node.otherwise === undefined ? '' : `if (n${id} === 0) ${this.#block(node.otherwise, scope)}`;
    if (node.otherwise !== undefined) this.#join(node, [after, this.#state()]);
    else this.#setState(after);
    return `{ const l${id} = ${list}, n${id} = l${id}.length;
for (let i${id} = 0; i${id} < n${id}; i${id}++) { if (++rt.steps >= rt.check && rt.tick(${site})) yield; ${grows}
let ${binding}; ${body} } ${otherwise} }`;
  }

  #loopBody(node: ForNode, scope: Scope, before: TextState): string {
    const outer = this.#loop;
    this.#loop = node;
    const start = this.#flow.enter(node, before, this.#context.mode);
    this.#setState(start);
    const code = this.#statements(node.body, scope);
    const { continues, breaks } = this.#flow.exits(node);
    if (this.#writer !== undefined) {
      this.#join(node, [start, this.#state(), ...continues]);
      this.#flow.repeat(node, this.#state(), this.#context.mode);
      this.#join(node, [this.#state(), ...breaks]);
    }
    this.#loop = outer;
    return code;
  }

  #leave(node: Extract<StatementNode, { kind: 'break' | 'continue' }>): string {
    if (this.#loop === undefined) {
      this.#context.problem(
        node,
        `{% ${node.kind} %} stands in a {% for %}, and leaves no section, backend, memo, macro or set block`,
      );
      return '';
    }
    this.#flow.leave(this.#loop, node.kind, this.#state());
    return `${node.kind};`;
  }

  #set(node: Extract<StatementNode, { kind: 'set' }>, scope: Scope): string {
    return assign(this.#context, node.name, scope, this.#expressions.compile(node.value, scope));
  }

  #setBlock(node: Extract<StatementNode, { kind: 'set-block' }>, scope: Scope): string {
    const shape = shapeOf(node.body);
    const result = this.#context.variable();
    const body = this.#captured(node.body, new Scope(scope), shape);
    const assigned = assign(this.#context, node.name, scope, { code: result, type: shape });
    return `let ${result}; { ${body} ${result} = o; } ${assigned}`;
  }

  #include(node: IncludeNode, scope: Scope): string {
    const handed = node.handed.map(({ name, value }) => ({
      name,
      ...this.#expressions.compile(value, scope),
    }));
    const parameters = handed.map(({ name, type }) => ({ name, type }));
    const shape = node.alone ? 'lines' : 'inline';
    const place = this.#isMain() ? 'main' : this.#place === 'main' ? 'body' : this.#place;
    const args = handed.map(({ code }) => code).join(', ');
    const units = this.#context.includeUnits(node, { place, shape, parameters });
    return units
      .map((unit) => {
        const call = `(yield* ${unit}(rt, ${this.#context.site(node)}, ${args}))`;
        if (this.#writer === undefined) return `${call};`;
        return node.alone ? this.#writer.lines(node, call) : this.#writer.inline(node, call);
      })
      .join('\n');
  }

  /** Its text stands on lines of its own, so that it is the same wherever the lines before it end. */
  #memo(node: MemoNode, scope: Scope): string {
    const keys = node.keys.map(({ name, start, end }) =>
      this.#expressions.compile({ kind: 'name', name, start, end }, scope),
    );
    const [known, key, begun] = [0, 1, 2].map(() => this.#context.variable());
    const site = this.#context.site({ start: node.start, end: node.start });
    const isText = this.#writer !== undefined;
    if (isText && !node.alone) this.#context.problem(node, '{% memo %} stands alone on its line');
    const body = this.#context.memo(node, (reads) => this.#memoBody(node, new Scope(scope, reads)));
    const keep = `${known} = rt.memo.keep(${key}, ${begun}, ${isText ? 't' : '""'}, rt);`;
    const write = isText ? this.#writer!.lines({ ...node, alone: true }, `${known}.text`) : '';
    return `{ const ${key} = rt.memo.key(${this.#context.pool.memo()}, [${keys.map(({ code }) => code).join(', ')}], rt);
let ${known} = rt.memo.find(${key}, rt, ${site});
if (${known} === undefined) { const ${begun} = rt.memo.begin(rt); let t; { ${body} ${isText ? 't = o;' : ''} } ${keep} }
${write} }`;
  }

  #memoBody({ body }: MemoNode, scope: Scope): string {
    if (this.#writer !== undefined) return this.#captured(body, scope, 'lines');
    const outer = this.#loop;
    this.#loop = undefined;
    const code = this.#statements(body, scope);
    this.#loop = outer;
    return code;
  }

  #container(node: Extract<StatementNode, { kind: 'section' | 'backend' }>, scope: Scope): string {
    if (!this.#isMain()) this.#misplaced(node);
    const opened = this.#context.variable();
    const { open, close } = this.#declarations.container(node, scope, opened);
    const place = this.#place;
    this.#place = 'body';
    const body = this.#captured(node.body, new Scope(scope), 'lines');
    this.#place = place;
    return `{ const ${opened} = ${open}; ${body} ${close} if (rt.tick(${this.#context.site(node)})) yield; }`;
  }
}

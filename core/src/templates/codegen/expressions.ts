import { didYouMean } from '../../contract/index.ts';
import type {
  ArrowFunction,
  BinaryOperator,
  CallExpression,
  Expression,
  MemberExpression,
  MethodCall,
} from '../expression/ast.ts';
import { costs } from '../runtime/costs.ts';
import { methodNames, takesFunction } from '../runtime/methods.ts';
import { compileCall } from './calls.ts';
import { value, type Arity, type Compiled, type OperandCompiler } from './compiled.ts';
import { checkIndex, globalPath, isKnownPath } from './global-path.ts';
import { isText, Scope } from './scope.ts';
import type { UnitContext } from './unit-context.ts';

const functions: Readonly<Record<string, string>> = {
  '-': 'subtract',
  '*': 'multiply',
  '/': 'divide',
  '%': 'remainder',
  '**': 'power',
  in: 'isIn',
};

/** Compiles expressions of one template. Mistakes are reported, and stand as `undefined` in the code. */
export class ExpressionCompiler implements OperandCompiler {
  readonly context: UnitContext;

  constructor(context: UnitContext) {
    this.context = context;
  }

  /** The code of a value: text that templates made is none. */
  value(expression: Expression, scope: Scope): string {
    const { code, type } = this.compile(expression, scope);
    if (!isText(type)) return code;
    this.context.problem(
      expression,
      'the text of a macro or set block can be printed, set or handed to an include; it takes part in no operator or call',
    );
    return 'undefined';
  }

  compile(expression: Expression, scope: Scope): Compiled {
    switch (expression.kind) {
      case 'literal':
        return value(expression.value === undefined ? 'undefined' : JSON.stringify(expression.value));
      case 'name':
        return this.#name(expression, scope);
      case 'template': {
        const holes = expression.holes.map((hole) => this.value(hole, scope));
        const texts = this.context.pool.constant(expression.texts);
        return value(`interpolate(${texts}, [${holes.join(', ')}], rt, ${this.context.site(expression)})`);
      }
      case 'list':
        return value(this.#list(expression, scope));
      case 'object':
        return value(this.#object(expression, scope));
      case 'unary':
        return value(this.#unary(expression, scope));
      case 'binary':
        return value(this.#binary(expression, scope));
      case 'logical': {
        const left = this.value(expression.left, scope);
        return value(`(${left} ${expression.operator} ${this.value(expression.right, scope)})`);
      }
      case 'conditional': {
        const test = this.value(expression.test, scope);
        const then = this.compile(expression.consequent, scope);
        const otherwise = this.compile(expression.alternate, scope);
        return this.#conditional(expression, test, then, otherwise);
      }
      case 'chain':
        return value(this.#chained(expression.body, scope, (code) => code));
      case 'member':
        return this.#member(expression, scope);
      case 'method':
        return this.#methodCall(expression, scope);
      case 'call':
        return compileCall(this, expression, scope);
      case 'arrow':
        return value(this.#arrow(expression, scope));
    }
  }

  #conditional(expression: Expression, test: string, then: Compiled, otherwise: Compiled): Compiled {
    const code = `(${test} ? ${then.code} : ${otherwise.code})`;
    if (then.type === otherwise.type) {
      if (!isText(then.type)) return { code, type: then.type };
    } else if (!isText(then.type) && !isText(otherwise.type)) return value(code);
    this.context.problem(
      expression,
      'the text of a macro or set block takes part in no operator; use {% if %}',
    );
    return value('undefined');
  }

  #name(expression: Extract<Expression, { kind: 'name' }>, scope: Scope): Compiled {
    const { name } = expression;
    const variable = scope.find(name);
    if (variable?.kind === 'loop') {
      this.context.problem(expression, '"loop" is no value; it has index, index0, first and last');
      return value('undefined');
    }
    if (variable !== undefined) return { code: variable.js, type: variable.type };
    const global = this.context.names.globals.get(name);
    if (global !== undefined) {
      this.context.readsGlobal(name, expression);
      return value(`rt.global(${this.context.pool.global(global)}, ${this.context.site(expression)})`);
    }
    if (this.context.names.helpers.has(name) || this.context.macros.has(name)) {
      this.context.problem(expression, `"${name}" is a function: it can be called, but is no value`);
    } else if (!this.context.mayBeHanded) {
      this.context.problem(
        expression,
        `there is no variable "${name}"${didYouMean(name, [...this.context.visibleNames(scope), 'true', 'false', 'null'])}`,
      );
    }
    return value('undefined');
  }

  #list(expression: Extract<Expression, { kind: 'list' }>, scope: Scope): string {
    const items = expression.items.map((item) => {
      const code = this.value(item.value, scope);
      return item.spread ? `...spreadList(${code}, rt, ${this.context.site(item.value)})` : code;
    });
    const list = paid(costs.list + costs.item * items.length, `[${items.join(', ')}]`);
    const spreads = expression.items.some(({ spread }) => spread);
    return spreads ? `checkList(${list}, ${this.context.site(expression)})` : list;
  }

  #object(expression: Extract<Expression, { kind: 'object' }>, scope: Scope): string {
    const entries = expression.entries.map((entry) => {
      const code = this.value(entry.value, scope);
      if (entry.spread) return `...spreadObject(${code}, rt, ${this.context.site(entry.value)})`;
      if (typeof entry.key === 'string') return `${JSON.stringify(entry.key)}: ${code}`;
      return `[objectKey(${this.value(entry.key, scope)}, ${this.context.site(entry.keySpan)})]: ${code}`;
    });
    return paid(costs.object + costs.item * entries.length, `{ ${entries.join(', ')} }`);
  }

  #unary({ operator, operand }: Extract<Expression, { kind: 'unary' }>, scope: Scope): string {
    const code = this.value(operand, scope);
    if (operator === '!') return `(!${code})`;
    if (operator === 'typeof') return `(typeof ${code})`;
    return `${operator === '-' ? 'negate' : 'positive'}(${code}, ${this.context.site(operand)})`;
  }

  #binary(expression: Extract<Expression, { kind: 'binary' }>, scope: Scope): string {
    const { operator } = expression;
    const left = this.value(expression.left, scope);
    const right = this.value(expression.right, scope);
    if (operator === '===' || operator === '!==') return `(${left} ${operator} ${right})`;
    const site = this.context.site(expression);
    if (operator === '+') return `add(${left}, ${right}, rt, ${site})`;
    return isComparison(operator)
      ? `(compare(${left}, ${right}, ${site}) ${operator} 0)`
      : `${functions[operator]}(${left}, ${right}, ${site})`;
  }

  #member(expression: MemberExpression, scope: Scope): Compiled {
    const loop = this.#loopMember(expression, scope);
    if (loop !== undefined) return value(loop);
    const path = globalPath(expression, scope, this.context);
    const code = this.#chained(expression, scope, (chained) => chained);
    return { code, type: path !== undefined && isKnownPath(path) ? 'path' : 'value' };
  }

  #loopMember({ object, property, propertySpan }: MemberExpression, scope: Scope): string | undefined {
    const variable = object.kind === 'name' ? scope.find(object.name) : undefined;
    if (variable?.kind !== 'loop') return undefined;
    const { js } = variable;
    const members: Readonly<Record<string, string>> = {
      index: `(i${js} + 1)`,
      index0: `i${js}`,
      first: `(i${js} === 0)`,
      last: `(i${js} === n${js} - 1)`,
    };
    const name = typeof property === 'string' ? property : '';
    if (Object.hasOwn(members, name)) return members[name]!;
    this.context.problem(
      propertySpan,
      `"loop" has no member "${name}"${didYouMean(name, Object.keys(members))}; it has index, index0, first and last`,
    );
    return 'undefined';
  }

  /** A chain of members and calls; `rest` is what is done to it, and left out where a `?.` stops. */
  #chained(expression: Expression, scope: Scope, rest: (code: string) => string): string {
    if (expression.kind !== 'member' && expression.kind !== 'method')
      return rest(this.value(expression, scope));
    const { object, optional } = expression;
    if (object.kind === 'name' && scope.find(object.name)?.kind === 'loop') {
      return rest(
        expression.kind === 'member' ? (this.#loopMember(expression, scope) ?? 'undefined') : 'undefined',
      );
    }
    const use = (code: string): string =>
      expression.kind === 'member'
        ? this.#get(expression, code, scope)
        : this.#callMethod(expression, code, scope);
    if (!optional) return this.#chained(object, scope, (code) => rest(use(code)));
    const temporary = this.context.temporary();
    return this.#chained(
      object,
      scope,
      (code) => `((${temporary} = ${code}) == null ? undefined : ${rest(use(temporary))})`,
    );
  }

  #get(expression: MemberExpression, object: string, scope: Scope): string {
    globalPath(expression, scope, this.context);
    const site = this.context.site(expression.object);
    const { property } = expression;
    if (typeof property === 'string') return `get(${object}, ${JSON.stringify(property)}, ${site})`;
    return `at(${object}, ${this.value(property, scope)}, ${site})`;
  }

  #methodCall(expression: MethodCall, scope: Scope): Compiled {
    const path = globalPath(expression, scope, this.context);
    if (path?.name === 'files.put') {
      const args = this.args(expression, scope, { min: 3, max: 3, signature: 'files.put(kind, name, text)' });
      const provenance = this.context.pool.provenance(this.context.source, expression.start);
      return {
        code: `rt.put(${args.join(', ')}, ${provenance}, ${this.context.site(expression)})`,
        type: 'path',
      };
    }
    return value(this.#chained(expression, scope, (code) => code));
  }

  #callMethod(expression: MethodCall, object: string, scope: Scope): string {
    const { name, nameSpan } = expression;
    const path = globalPath(expression, scope, this.context);
    const isHost = path?.declared === true;
    if (path !== undefined) checkIndex(path, expression, this.context);
    if (!isHost && !methodNames.has(name)) {
      const hint =
        name === 'length' ? ': it is a member, without parentheses' : didYouMean(name, methodNames);
      this.context.problem(nameSpan, `there is no method "${name}"${hint}`);
    }
    for (const [i, arg] of expression.args.entries()) {
      if (i > 0 || isHost || !takesFunction.has(name)) this.#noFunction(arg, `"${name}"`);
    }
    const args = expression.args.map((arg) => this.value(arg, scope));
    const call = isHost ? 'rt.host' : 'rt.method';
    return `${call}(${object}, ${JSON.stringify(name)}, [${args.join(', ')}], ${this.context.site(expression)})`;
  }

  /** The code of a call's arguments, whose number is checked. */
  args(call: CallExpression | MethodCall, scope: Scope, expected: Arity): string[] {
    const { length } = call.args;
    if (length < expected.min || length > expected.max) {
      const filter = call.kind === 'call' && call.piped ? ' (the filtered value is the first argument)' : '';
      this.context.problem(
        call,
        `expected ${expected.signature}, found ${length} argument${length === 1 ? '' : 's'}${filter}`,
      );
    }
    if (expected.functions !== true) for (const arg of call.args) this.#noFunction(arg, expected.signature);
    return call.args.map((arg) => this.value(arg, scope));
  }

  /** A function that is no argument of what calls it would be a value. */
  #noFunction(arg: Expression, callee: string): void {
    if (arg.kind === 'arrow')
      this.context.problem(arg, `${callee} takes no function here: functions are no values`);
  }

  #arrow({ parameters, body }: ArrowFunction, scope: Scope): string {
    const inner = new Scope(scope);
    const names = parameters.map(({ name }) => {
      const js = this.context.variable();
      inner.declare(name, { js, type: 'value', kind: 'parameter' });
      return js;
    });
    const site = this.context.site(body);
    return `((${names.join(', ')}) => (rt.step(${site}), ${this.value(body, inner)}))`;
  }
}

/** What is made takes memory: it is counted where it is made, and looked at by the next step. */
function paid(cost: number, code: string): string {
  return `(rt.steps += ${cost}, ${code})`;
}

function isComparison(operator: BinaryOperator): boolean {
  return operator.startsWith('<') || operator.startsWith('>');
}

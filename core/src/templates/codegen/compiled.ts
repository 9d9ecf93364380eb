import type { CallExpression, Expression, MethodCall } from '../expression/ast.ts';
import type { EscapeFilter } from '../text/text-mode.ts';
import type { Scope, StaticType } from './scope.ts';
import type { UnitContext } from './unit-context.ts';

/** JavaScript of an expression, in parentheses where it needs them. */
export interface Compiled {
  readonly code: string;
  readonly type: StaticType;
}

export function value(code: string): Compiled {
  return { code, type: 'value' };
}

/** How many arguments a call takes. */
export interface Arity {
  readonly min: number;
  readonly max: number;
  readonly signature: string;
  /** `x => …` may be an argument. */
  readonly functions?: boolean;
}

/** What compilers of single kinds of expressions ask of the one for all. */
export interface OperandCompiler {
  readonly context: UnitContext;
  value(expression: Expression, scope: Scope): string;
  args(call: CallExpression | MethodCall, scope: Scope, expected: Arity): string[];
}

export const escapeFilters: ReadonlySet<string> = new Set<EscapeFilter>([
  'arg',
  'word',
  'fmt',
  'expr',
  'q',
  'raw',
]);

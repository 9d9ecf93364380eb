import { RE2JS } from 're2js';
import { didYouMean } from '../../contract/index.ts';
import type { CallExpression, Expression } from '../expression/ast.ts';
import type { EffectHelper } from '../names/effects.ts';
import { methodNames } from '../runtime/methods.ts';
import { escapeFilters, value, type Compiled, type OperandCompiler } from './compiled.ts';
import type { Scope } from './scope.ts';

/** A call by name, or a filter: a macro, a helper, or one of those that the compiler knows. */
export function compileCall(compiler: OperandCompiler, call: CallExpression, scope: Scope): Compiled {
  const { context } = compiler;
  const { name, nameSpan } = call;
  const macro = context.macros.get(name);
  if (macro !== undefined) {
    const { parameters } = macro.node;
    const required = parameters.filter(({ fallback }) => fallback === undefined).length;
    const signature = `${name}(${parameters.map((parameter) => parameter.name.name).join(', ')})`;
    const args = compiler.args(call, scope, { min: required, max: parameters.length, signature });
    const { js, shape } = context.macroUnit(macro);
    return { code: `(yield* ${js}(rt, ${[context.site(call), ...args].join(', ')}))`, type: shape };
  }
  const helper = context.names.helpers.get(name);
  if (helper !== undefined) {
    const { minArgs: min, maxArgs: max, signature } = helper;
    const args = compiler.args(call, scope, { min, max, signature, functions: !('compiled' in helper) });
    if ('compiled' in helper) return effect(compiler, helper, call, args);
    return value(`rt.call(${context.pool.helper(helper)}, [${args.join(', ')}], ${context.site(call)})`);
  }
  context.problem(nameSpan, unknown(compiler, name, scope));
  for (const arg of call.args) compiler.value(arg, scope);
  return value('undefined');
}

function unknown({ context }: OperandCompiler, name: string, scope: Scope): string {
  if (escapeFilters.has(name)) return `"${name}" says how a value is written: it stands last in {{ … }}`;
  if (methodNames.has(name)) return `"${name}" is a method: write value.${name}(…)`;
  if (scope.find(name) !== undefined || context.names.globals.has(name)) return `"${name}" is no function`;
  const known = [...context.names.helpers.keys(), ...context.macros.keys(), ...escapeFilters];
  return `there is no function "${name}"${didYouMean(name, known)}`;
}

function effect(
  { context }: OperandCompiler,
  { name }: EffectHelper,
  call: CallExpression,
  args: readonly string[],
): Compiled {
  const site = context.site(call);
  if (name === 'path') return { code: `rt.path(${args.join(', ')}, ${site})`, type: 'path' };
  if (name !== 'matches') return value(`rt.${name}(${args.join(', ')}, ${site})`);
  const pattern = compilePattern(call.args[1]);
  if (typeof pattern !== 'string')
    return value(`matches(${context.pool.constant(pattern)}, ${args[0]}, rt, ${site})`);
  context.problem(call.args[1] ?? call, pattern);
  return value('undefined');
}

/** The compiled pattern, or what is wrong with it. */
function compilePattern(expression: Expression | undefined): RE2JS | string {
  if (expression?.kind !== 'literal' || typeof expression.value !== 'string') {
    return 'the pattern of "matches" is a text in quotes, known at load';
  }
  try {
    return RE2JS.compile(expression.value);
  } catch (error) {
    return `not a regular expression of RE2: ${(error as Error).message}`;
  }
}

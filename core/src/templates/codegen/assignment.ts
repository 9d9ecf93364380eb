import type { Name } from '../syntax/nodes.ts';
import type { Compiled } from './compiled.ts';
import { isText, type Scope, type StaticType } from './scope.ts';
import type { UnitContext } from './unit-context.ts';

/** The code of `{% set %}`: declares a variable in this block, or assigns the one that is visible. */
export function assign(
  context: UnitContext,
  target: Name,
  scope: Scope,
  { code, type }: Pick<Compiled, 'code' | 'type'>,
): string {
  const { name } = target;
  if (scope.isBeyondMemo(name)) {
    context.problem(
      target,
      `"${name}" stands outside of the memo, which is not always run: use another name`,
    );
    return '';
  }
  const known = scope.find(name);
  if (known?.kind === 'variable') {
    if (known.type === type) return `${known.js} = ${code};`;
    context.problem(
      target,
      `"${name}" holds ${described(known.type)} and cannot become ${described(type)}: use another name`,
    );
    return '';
  }
  const taken = known?.kind ?? takenName(context, name);
  if (taken !== undefined) {
    context.problem(target, `"${name}" is a ${taken} and cannot be set: use another name`);
    return '';
  }
  const js = context.variable();
  scope.declare(name, { js, type, kind: 'variable' });
  return `let ${js} = ${code};`;
}

function takenName({ names, macros }: UnitContext, name: string): string | undefined {
  if (name === 'loop') return 'name that {% for %} sets';
  if (names.globals.has(name)) return 'global';
  if (names.helpers.has(name)) return 'helper';
  return macros.has(name) ? 'macro' : undefined;
}

function described(type: StaticType): string {
  if (type === 'value') return 'a value';
  if (type === 'path') return 'a path';
  return isText(type) ? `text of a ${type === 'lines' ? 'block' : 'line'}` : type;
}

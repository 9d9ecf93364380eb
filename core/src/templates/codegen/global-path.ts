import { didYouMean } from '../../contract/index.ts';
import type { Expression, MemberExpression, MethodCall } from '../expression/ast.ts';
import { membersBelow } from '../names/known.ts';
import type { Scope } from './scope.ts';
import type { UnitContext } from './unit-context.ts';

const paths: ReadonlySet<string> = new Set(['haproxy.paths.base', 'haproxy.paths.workerSocket']);

/** Members of globals that hold paths which may name files. */
export function isKnownPath({ name }: GlobalPath): boolean {
  return paths.has(name);
}

function literalPath(expression: Expression): readonly string[] | undefined {
  if (expression.kind === 'name') return [expression.name];
  if (expression.kind === 'chain') return literalPath(expression.body);
  if (expression.kind === 'member' && typeof expression.property === 'string') {
    const object = literalPath(expression.object);
    return object === undefined ? undefined : [...object, expression.property];
  }
  return undefined;
}

export interface GlobalPath {
  /** `resources.ingresses.list` */
  readonly name: string;
  /** The global lists what may stand in the last place, so it may be a function; below that is plain data. */
  readonly declared: boolean;
}

/** What an expression that begins with a global names; undefined for others. An undeclared member is a problem. */
export function globalPath(
  expression: MemberExpression | MethodCall,
  scope: Scope,
  context: UnitContext,
): GlobalPath | undefined {
  const object = literalPath(expression.object);
  const [root] = object ?? [];
  const global =
    root === undefined || scope.find(root) !== undefined ? undefined : context.names.globals.get(root);
  if (object === undefined || global === undefined) return undefined;
  const name = expression.kind === 'method' ? expression.name : expression.property;
  const nameSpan = expression.kind === 'method' ? expression.nameSpan : expression.propertySpan;
  if (typeof name !== 'string') return undefined;
  const known = membersBelow(global.members(context.config), object.slice(1));
  if (known !== undefined && !known.includes(name)) {
    const all = known.length === 0 ? '' : `; it has ${known.slice(0, 20).join(', ')}`;
    context.problem(
      nameSpan,
      `"${object.join('.')}" has no member "${name}"${didYouMean(name, known)}${all}`,
    );
  }
  return { name: [...object, name].join('.'), declared: known !== undefined };
}

/** `resources.<watch>.by("index", …keys)`: an index in quotes is one of the watch's, or several with commas, with a key for each. */
export function checkIndex({ name }: GlobalPath, call: MethodCall, context: UnitContext): void {
  const [index, ...keys] = call.args;
  const [root, watch = '', method] = name.split('.');
  if (root !== 'resources' || method !== 'by') return;
  if (index === undefined) return context.problem(call, 'expected by(index, …keys)');
  if (index.kind !== 'literal' || typeof index.value !== 'string') return;
  const known = context.config.watchedResources[watch]?.indexBy ?? [];
  const paths = known.includes(index.value) ? [index.value] : index.value.split(',');
  const unknown = paths.find((path) => !known.includes(path));
  if (unknown !== undefined) {
    const all = known.length === 0 ? 'it has none' : `it has ${known.join(', ')}`;
    const hint = didYouMean(unknown, known);
    return context.problem(index, `watch "${watch}" has no index "${unknown}"; ${all}${hint}`);
  }
  if (paths.length === keys.length) return;
  context.problem(call, `index "${index.value}" takes ${paths.length} key(s), found ${keys.length}`);
}

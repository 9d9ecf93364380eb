import { Refused } from './errors.ts';

const SYNTAX =
  'a path is names joined by dots, e.g. metadata.labels.app, with "\\." for a dot inside a name, or the name in quotes';

function refuse(path: string, at: number, message: string): never {
  throw new Refused(`path "${path}", character ${at + 1}: ${message} (${SYNTAX})`);
}

/** Reads a quoted name that begins at `start`; gives the name and where it ends. */
function readQuoted(path: string, start: number): readonly [name: string, end: number] {
  const quote = path[start];
  let name = '';
  for (let at = start + 1; at < path.length; at++) {
    if (path[at] === quote) return [name, at + 1];
    if (path[at] === '\\' && at + 1 < path.length) at++;
    name += path[at];
  }
  return refuse(path, start, 'the quote is never closed');
}

/** Reads a bare name that begins at `start`: up to the next dot that is not escaped. */
function readBare(path: string, start: number): readonly [name: string, end: number] {
  let name = '';
  let at = start;
  for (; at < path.length && path[at] !== '.'; at++) {
    if (path[at] === '\\') {
      at++;
      if (at === path.length) refuse(path, at - 1, 'nothing follows the backslash');
    } else if (/[\s,"'[\]]/.test(path[at]!)) {
      refuse(path, at, `"${path[at]}" must be escaped or quoted`);
    }
    name += path[at];
  }
  return [name, at];
}

/**
 * The names along a dotted path such as `metadata.labels.kubernetes\.io/service-name` or `metadata.labels."a.b/c"`.
 * @throws Refused for text that is no path.
 */
export function parseFieldPath(path: string): readonly string[] {
  const names: string[] = [];
  let at = 0;
  do {
    const quoted = path[at] === '"' || path[at] === "'";
    const [name, end] = quoted ? readQuoted(path, at) : readBare(path, at);
    if (name === '') refuse(path, at, 'a name is empty');
    if (end < path.length && path[end] !== '.') refuse(path, end, 'expected a dot');
    names.push(name);
    at = end + 1;
  } while (at <= path.length);
  return names;
}

/** The value at the end of `names`, own members only; an item of a list goes by its number. Undefined where the path ends early. */
export function readField(value: unknown, names: readonly string[]): unknown {
  let current = value;
  for (const name of names) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, name)) return undefined;
    current = (current as Readonly<Record<string, unknown>>)[name];
  }
  return current;
}

/** Without the member at the end of `path`; copies only what lies on the way, since what is given may be frozen. */
export function withoutField<T extends object>(value: T, path: readonly string[]): T {
  const [name, ...rest] = path;
  if (name === undefined || !Object.hasOwn(value, name)) return value;
  const fields = value as Readonly<Record<string, unknown>>;
  const { [name]: child, ...others } = fields;
  if (rest.length === 0) return others as T;
  if (typeof child !== 'object' || child === null || Array.isArray(child)) return value;
  const stripped = withoutField(child, rest);
  return stripped === child ? value : ({ ...fields, [name]: stripped } as T);
}

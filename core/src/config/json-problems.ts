import type { PathProblem } from './schema-problems.ts';

/** Deeper than anybody writes by hand; beyond it recursion of others could overflow the stack, and a circle never ends. */
const DEEPEST = 64;

type Path = readonly (string | number)[];

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return Array.isArray(value) || prototype === Object.prototype || prototype === null;
}

function problemOf(value: unknown, depth: number): string | undefined {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return undefined;
  if (typeof value === 'number') {
    return Number.isFinite(value) ? undefined : `${value} is not a number that JSON knows`;
  }
  if (typeof value !== 'object' || !isPlain(value)) return 'expected plain data';
  return depth > DEEPEST ? `nested more than ${DEEPEST} levels deep` : undefined;
}

function visit(value: unknown, path: Path, problems: PathProblem[]): void {
  const message = problemOf(value, path.length);
  if (message !== undefined) {
    problems.push({ path, of: 'value', message });
  } else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) visit(item, [...path, index], problems);
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, member] of Object.entries(value)) {
      // Code that copies members by assignment would change a prototype here.
      if (key === '__proto__')
        problems.push({ path: [...path, key], of: 'key', message: 'no key may be called "__proto__"' });
      else visit(member, [...path, key], problems);
    }
  }
}

/** What of `value` is not plain JSON data: nothing of it would survive a digest, a copy or a freeze as it is. */
export function jsonProblems(value: unknown): readonly PathProblem[] {
  const problems: PathProblem[] = [];
  visit(value, [], problems);
  return problems;
}

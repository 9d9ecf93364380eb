import type { PreparedRoute } from './prepared-route.ts';

/** Older first; at equal age by namespace and name of the object, then by place within it. */
export function compareAge(a: PreparedRoute, b: PreparedRoute): number {
  const left = a.route.origin;
  const right = b.route.origin;
  return (
    compareNumbers(a.route.age ?? Infinity, b.route.age ?? Infinity) ||
    compareText(left.object.namespace, right.object.namespace) ||
    compareText(left.object.name, right.object.name) ||
    compareText(left.object.kind, right.object.kind) ||
    left.rule - right.rule ||
    left.index - right.index
  );
}

/** Among routes of one path: a method, more headers, more query parameters, then age. */
export function compareConditions(a: PreparedRoute, b: PreparedRoute): number {
  return (
    b.counts.method - a.counts.method ||
    b.counts.header - a.counts.header ||
    b.counts.query - a.counts.query ||
    compareAge(a, b)
  );
}

/** Among the regular expressions of a table: the longest first. */
export function compareRegexes(a: PreparedRoute, b: PreparedRoute): number {
  return b.pathKey.length - a.pathKey.length || compareConditions(a, b);
}

// Infinity minus itself is no number.
function compareNumbers(a: number, b: number): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

/** Code units: the same order on every machine. */
export function compareText(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

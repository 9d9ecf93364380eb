/** Longest path that a rule may have, in bytes: its key must stay far below HAProxy's line limit. */
const longestPath = 4096;
const unreserved = /^[A-Za-z0-9._~-]$/;
// A percent escape, or one character that a request's path never holds as such.
const toCanonicalise = /%[0-9A-Fa-f]{2}|[ ?#]|[^\x00-\x7f]/gu;

/** What is wrong with a rule's path, or undefined. */
export function pathProblem(path: string): string | undefined {
  if (!path.startsWith('/')) return 'the path does not begin with "/"';
  if (/[\x00-\x1f\x7f]/.test(path)) return 'the path holds a control character';
  if (!path.isWellFormed()) return 'the path is not well-formed Unicode';
  if (Buffer.byteLength(path) > longestPath) return `the path is longer than ${longestPath} bytes`;
  return undefined;
}

/**
 * The one spelling that requests have when they are routed: the frontend decodes needless escapes, writes the others in upper
 * case, resolves dot segments and merges repeated slashes, in this order.
 */
export function canonicalPath(path: string): string {
  const escaped = path.replace(toCanonicalise, canonicalCharacter);
  return mergeSlashes(withoutDotSegments(escaped));
}

function canonicalCharacter(text: string): string {
  if (!text.startsWith('%')) return encodeURIComponent(text);
  const character = String.fromCharCode(Number.parseInt(text.slice(1), 16));
  return unreserved.test(character) ? character : text.toUpperCase();
}

function withoutDotSegments(path: string): string {
  const kept: string[] = [];
  const segments = path.slice(1).split('/');
  for (const [index, segment] of segments.entries()) {
    const dots = segment === '.' || segment === '..';
    if (segment === '..') kept.pop();
    if (!dots) kept.push(segment);
    else if (index === segments.length - 1) kept.push('');
  }
  return `/${kept.join('/')}`;
}

function mergeSlashes(path: string): string {
  return path.replace(/\/{2,}/g, '/');
}

/** Key of a prefix rule below its table: matches the path itself and everything below it, never a longer segment. */
export function prefixKey(canonical: string): string {
  return canonical.endsWith('/') ? canonical : `${canonical}/`;
}

/** Key of an exact rule: longer than the prefix key of the same path, and only the end of a request can match its `?`. */
export function exactKey(canonical: string): string {
  return `${canonical}/?`;
}

/** The longest prefix key above `key` that `known` has; undefined where there is none. */
export function parentPrefix(key: string, known: { has(key: string): boolean }): string | undefined {
  for (let end = key.length - 1; end > 0;) {
    end = key.lastIndexOf('/', end - 1);
    const candidate = key.slice(0, end + 1);
    if (known.has(candidate)) return candidate;
  }
  return undefined;
}

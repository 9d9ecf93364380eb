import { expect, test } from 'vitest';
import { redirectProblem, redirectText } from './redirect.ts';
import type { PathPattern, Redirect } from './route.ts';

const prefix: PathPattern = { kind: 'prefix', value: '/a%62/' };

test.each<[Redirect, string]>([
  [{ code: 302 }, '302||||||'],
  [{ code: 301, scheme: 'https', host: 'B.test', port: 444 }, '301|https|b.test|:444|||'],
  [{ code: 308, path: { kind: 'full', value: '/x|y z' } }, '308||||full||/x%7Cy%20z'],
  [{ code: 308, path: { kind: 'prefix', value: '/x/' } }, '308||||prefix|3|/x'],
  [{ code: 308, path: { kind: 'prefix', value: '/' } }, '308||||prefix|3|'],
])('%j is written %s', (redirect, text) => {
  expect(redirectText(redirect, prefix)).toBe(text);
});

test.each<[string, Redirect]>([
  ['a host that is none', { code: 302, host: 'a|b' }],
  ['a wildcard', { code: 302, host: '*.a' }],
  ['a port that is none', { code: 302, port: 0 }],
  ['a path with a line feed', { code: 302, path: { kind: 'full', value: '/a\n' } }],
])('%s is refused', (_what, redirect) => {
  expect(redirectProblem(redirect, prefix)).toBeDefined();
});

test('only a prefix rule has a prefix to replace', () => {
  const redirect: Redirect = { code: 302, path: { kind: 'prefix', value: '/x' } };
  expect(redirectProblem(redirect, { kind: 'exact', value: '/a' })).toBeDefined();
  expect(redirectProblem(redirect, prefix)).toBeUndefined();
});

import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalPath, exactKey, parentPrefix, pathProblem, prefixKey } from './path.ts';

describe('the canonical form of a path', () => {
  test.each([
    ['/', '/'],
    ['/a.b~c-d_e', '/a.b~c-d_e'],
    ['/%61/%7e', '/a/~'],
    ['/caf%c3%a9', '/caf%C3%A9'],
    ['/café', '/caf%C3%A9'],
    ['/sp ace', '/sp%20ace'],
    ['/a?b#c', '/a%3Fb%23c'],
    ['/a%2fb', '/a%2Fb'],
    ['/100%', '/100%'],
    ['//a///b', '/a/b'],
    ['/a/./b/.', '/a/b/'],
    ['/a/../b', '/b'],
    ['/../..', '/'],
    ['/a/b/..', '/a/'],
    ['/a/%2e%2E/b', '/b'],
    ['/a//../b', '/a/b'],
  ])('%s → %s', (path, canonical) => {
    expect(canonicalPath(path)).toBe(canonical);
  });

  test('is canonical itself, and never holds what keys are made of', () => {
    const part = fc.constantFrom('a', '/', '.', '..', '%2F', '%41', '?', ' ', 'é', '%', '//', '#');
    const paths = fc.array(part, { maxLength: 12 }).map((parts) => `/${parts.join('')}`);
    fc.assert(
      fc.property(paths, (path) => {
        const canonical = canonicalPath(path);
        // Decoding may make another escape of a stray "%": the frontend does not look at that one either.
        fc.pre(!/%(?![0-9A-Fa-f]{2})/.test(path));
        expect(canonicalPath(canonical)).toBe(canonical);
        expect(canonical).toMatch(/^\/[!-~]*$/);
        expect(canonical).not.toMatch(/[?#]|\/\//);
      }),
    );
  });
});

test('keys tell exact and prefix rules apart', () => {
  expect(prefixKey('/')).toBe('/');
  expect(prefixKey('/a')).toBe('/a/');
  expect(prefixKey('/a/')).toBe('/a/');
  expect(exactKey('/')).toBe('//?');
  expect(exactKey('/a')).toBe('/a/?');
  expect(exactKey('/a/')).toBe('/a//?');
});

test('the parent of a key is the longest prefix rule above it', () => {
  const known = new Set(['/', '/a/', '/a/b/']);
  expect(parentPrefix('/a/b/?', known)).toBe('/a/b/');
  expect(parentPrefix('/a/b/', known)).toBe('/a/');
  expect(parentPrefix('/a/', known)).toBe('/');
  expect(parentPrefix('//?', known)).toBe('/');
  expect(parentPrefix('/', known)).toBeUndefined();
  expect(parentPrefix('/x/', new Set(['/a/']))).toBeUndefined();
});

test.each([
  ['', 'begin'],
  ['a', 'begin'],
  ['/a\nb', 'control'],
  ['/a\0', 'control'],
  ['/a\ud800', 'Unicode'],
  [`/${'a'.repeat(4096)}`, 'longer'],
])('%j is refused', (path, why) => {
  expect(pathProblem(path)).toContain(why);
});

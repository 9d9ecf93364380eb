import { expect, test } from 'vitest';
import { coveringKeys, hostKey, parseHost } from './host.ts';

test('reads hosts as objects write them', () => {
  expect(parseHost(undefined, 'suffix')).toEqual({ kind: 'any' });
  expect(parseHost('', 'suffix')).toEqual({ kind: 'any' });
  expect(parseHost('App.Test', 'suffix')).toEqual({ kind: 'exact', name: 'app.test' });
  expect(parseHost('*.app.test', 'one-label')).toEqual({ kind: 'one-label', parent: 'app.test' });
  expect(parseHost('*.app.test', 'suffix')).toEqual({ kind: 'suffix', parent: 'app.test' });
});

test.each([
  'a b',
  'a/b',
  'a|b',
  'a..b',
  '.a',
  'a.',
  '*',
  'a.*.b',
  '*.*.a',
  '-a',
  'é.test',
  'a:80',
  'a\nb',
  '~.a',
  `${'a.'.repeat(127)}a`,
])('%j is no host', (host) => {
  expect(parseHost(host, 'one-label')).toBeUndefined();
});

test('keys of covering patterns go from most to least specific', () => {
  const keysOf = (host: string, wildcard: 'one-label' | 'suffix' = 'suffix'): readonly string[] =>
    coveringKeys(parseHost(host, wildcard) ?? { kind: 'any' });
  expect(keysOf('a.b.c')).toEqual(['a.b.c', '~.b.c', '*.b.c', '*.c', '*']);
  expect(keysOf('c')).toEqual(['c', '*']);
  expect(keysOf('*.b.c', 'one-label')).toEqual(['~.b.c', '*.b.c', '*.c', '*']);
  expect(keysOf('*.b.c')).toEqual(['*.b.c', '*.c', '*']);
  expect(keysOf('')).toEqual(['*']);
});

test('no two patterns share a key', () => {
  const patterns = [
    parseHost('a.b', 'suffix'),
    parseHost('*.a.b', 'suffix'),
    parseHost('*.a.b', 'one-label'),
  ];
  expect(new Set(patterns.map((pattern) => pattern && hostKey(pattern))).size).toBe(3);
});

import { array, assert, constantFrom, oneof, property, string } from 'fast-check';
import { resolve, sep } from 'node:path';
import { expect, test } from 'vitest';
import { parents, pathProblem, setProblems } from './path-rules.ts';

test.each([
  ['haproxy.cfg', undefined],
  ['maps/host.map', undefined],
  ['..a/.b/c..', undefined],
  ['', 'not canonical'],
  ['/etc/passwd', 'absolute'],
  ['a/../b', 'not canonical'],
  ['a//b', 'not canonical'],
  ['a/', 'not canonical'],
  ['a\nb', 'control character'],
  ['ä'.repeat(128), 'more than 255 bytes'],
  [`${'a/'.repeat(600)}b`, 'longer than 1024 bytes'],
])('%j', (path, words) => {
  const problem = pathProblem(path);
  if (words === undefined) expect(problem).toBeUndefined();
  else expect(problem).toContain(words);
});

test('a path that passes stays below the tree, whatever it is made of', () => {
  const part = oneof(constantFrom('..', '.', '', '/', '\\', '\0', 'a'), string());
  assert(
    property(array(part), constantFrom('/', ''), (parts, joint) => {
      const path = parts.join(joint);
      if (pathProblem(path) !== undefined) return;
      expect(resolve('/base', path).startsWith(`/base${sep}`)).toBe(true);
      expect(resolve('/base', path)).toBe(`/base/${path}`);
    }),
  );
});

test('names every bad path of a set, with its position', () => {
  expect(setProblems(['a', 'b/c', 'a', 'b', '../d'])).toEqual([
    { index: 2, message: '"a" appears twice' },
    { index: 3, message: '"b" is a file here and a folder of another file' },
    { index: 4, message: expect.stringContaining('not canonical') },
  ]);
  expect(parents('a/b/c')).toEqual(['a', 'a/b']);
});

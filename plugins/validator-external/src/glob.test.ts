import * as fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { matches, parseGlob } from './glob.ts';

function match(glob: string, path: string): boolean {
  return matches(parseGlob(glob), path);
}

describe('a glob', () => {
  it.each([
    ['maps/*.map', 'maps/hosts.map'],
    ['maps/*.map', 'maps/.map'],
    ['*', 'top.cfg'],
    ['*/*', 'a/b'],
    ['files/?.lua', 'files/a.lua'],
    ['files/?', 'files/é'],
    ['files/?', 'files/😀'],
    ['maps/[a-c]x', 'maps/bx'],
    ['maps/[!a-c]x', 'maps/dx'],
    ['maps/[^a-c]x', 'maps/dx'],
    ['maps/[a-]x', 'maps/-x'],
    ['maps/[a\\-c]x', 'maps/-x'],
    ['maps/[\\]]x', 'maps/]x'],
    ['maps/\\*', 'maps/*'],
    ['a*b*c', 'a-b-b-c'],
  ])('%s matches %s', (glob, path) => expect(match(glob, path)).toBe(true));

  it.each([
    ['*', 'maps/hosts.map'],
    ['maps/*', 'maps/a/b'],
    ['maps?hosts', 'maps/hosts'],
    ['maps[!a]hosts', 'maps/hosts'],
    ['maps/*.map', 'maps/hosts.mapx'],
    ['maps/*.map', 'Maps/hosts.map'],
    ['maps/[a\\-c]x', 'maps/bx'],
    ['maps/\\*', 'maps/x'],
    ['a.c', 'abc'],
  ])('%s does not match %s', (glob, path) => expect(match(glob, path)).toBe(false));

  it.each([
    ['', 'empty'],
    ['/etc/*', 'relative'],
    ['maps/**', '"**" is not supported'],
    ['**/x', '"**" is not supported'],
    ['maps//x', '"//"'],
    ['maps/', 'names no file'],
    ['maps/[ab', 'not closed'],
    ['maps/[', 'not closed'],
    ['maps/[]', 'can match nothing'],
    ['maps/[!]', 'can match nothing'],
    ['maps/[z-a]', 'wrong way round'],
    ['maps/[a/b]', 'can not hold "/"'],
    ['maps/x\\', 'takes no character'],
  ])('%s is malformed', (glob, problem) => expect(() => parseGlob(glob)).toThrow(problem));
});

const word = fc.string({ unit: fc.constantFrom('a', 'b', '/', '.', '*', '?'), maxLength: 12 });

function isMalformed(glob: string): boolean {
  return glob === '' || glob.includes('**') || glob.includes('//') || /^\/|\/$/.test(glob);
}

test('globs mean what the same regular expression does', () => {
  fc.assert(
    fc.property(word, word, (glob, path) => {
      fc.pre(!isMalformed(glob));
      const expression = glob.replaceAll(
        /[*?.]/g,
        (sign) => ({ '*': '[^/]*', '?': '[^/]' })[sign] ?? `\\${sign}`,
      );
      expect(match(glob, path)).toBe(new RegExp(`^${expression}$`).test(path));
    }),
  );
});

test('a pattern of many stars takes no time that grows with their number', () => {
  const started = performance.now();
  expect(match('*a'.repeat(40), `${'a'.repeat(200)}b`)).toBe(false);
  expect(performance.now() - started).toBeLessThan(1_000);
});

import { expect, it } from 'vitest';
import type { CrtListLine } from '../../contract/index.ts';
import { linesBeforeEquals } from './equal-filters.ts';

function line(text: string): CrtListLine {
  const [certificate = '', ...sni] = text.split(' ');
  return { certificate, options: '', sni };
}

/** Those of certificates that may lose names to another one, by certificate. */
function found(...lines: readonly string[]): Record<string, boolean> {
  const list = { digest: '', lines: [...lines, 'last unlike.test'].map(line) };
  const pairs = linesBeforeEquals({ 'crt-lists/a.txt': list }).map(
    ({ line: { certificate }, ofAnother }) => [certificate, ofAnother] as const,
  );
  return Object.fromEntries(pairs);
}

it.each([
  ['distinct names', ['d d.test', 'a a.test', 'b b.test *.a.test'], {}],
  ['a name of both, in any case', ['d d.test', 'a a.test x.test', 'b X.test'], { a: true }],
  ['a wildcard of both', ['d d.test', 'a *.x.test', 'b *.x.test'], { a: true }],
  ['a name of two lines of one certificate', ['d d.test', 'a x.test', 'a x.test'], { a: false }],
  ['that and a third one', ['d d.test', 'a x.test', 'a x.test', 'b x.test'], { a: true }],
  ['what a line is not for', ['d d.test', 'a *.x.test !y.x.test', 'b y.x.test !a.test'], {}],
  ['one that answers for all', ['d d.test', 'a a.test', 'b *'], { d: true }],
  ['a default one that says no names', ['d', 'a a.test'], { d: true }],
  ['one that says no names behind others', ['d d.test', 'a a.test', 'b'], { d: true, a: true, b: true }],
] as const)('finds %s', (_, lines, expected) => {
  expect(found(...lines)).toEqual(expected);
});

it('looks at each list by itself', () => {
  const lists = Object.fromEntries(
    ['a', 'b'].map((name) => [name, { digest: '', lines: [line(`${name} x.test`)] }]),
  );
  expect(linesBeforeEquals(lists)).toEqual([]);
});

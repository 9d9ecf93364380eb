import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { conditionProblem, conditionText, encodeText } from './condition.ts';
import type { Condition } from './route.ts';

const header = (name: string, value: string): Condition => ({ kind: 'header', name, match: 'exact', value });

test('equal conditions have one text, whatever their order and the case of header names', () => {
  const method: Condition = { kind: 'method', value: 'GET' };
  expect(conditionText([header('X-One', '1'), method])).toBe(conditionText([method, header('x-one', '1')]));
  expect(conditionText([header('x-one', '1')])).not.toBe(conditionText([header('x-one', '2')]));
});

test('a regular expression is bounded, and matches the whole value', () => {
  const text = conditionText([{ kind: 'query', name: 'q', match: 'regex', value: 'a|b' }]);
  expect(decodeURIComponent(text)).toBe('q:q~(*LIMIT_MATCH=5000)^(?:a|b)$');
});

test('encoded text can stand in a list, in a map line and on the runtime socket', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(encodeText(text)).toMatch(/^[A-Za-z0-9_.%-]*$/);
      expect(decodeURIComponent(encodeText(text))).toBe(text);
    }),
  );
});

test.each<[string, Condition]>([
  ['a header name with a blank', header('a b', '1')],
  ['a header name with a line feed', header('a\n', '1')],
  ['an empty header name', header('', '1')],
  ['a long value', header('a', 'x'.repeat(4097))],
  ['half a character', header('a', '\ud800')],
  ['a method with a blank', { kind: 'method', value: 'GET /' }],
  ['an empty query name', { kind: 'query', name: '', match: 'exact', value: '' }],
])('%s is refused', (_what, condition) => {
  expect(conditionProblem(condition)).toBeDefined();
});

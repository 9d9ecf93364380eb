import { describe, expect, it } from 'vitest';
import { mergeJson } from './merge-json.ts';

describe('mergeJson', () => {
  it.each([
    [{ a: 1 }, { b: 2 }, { a: 1, b: 2 }],
    [{ a: 1 }, { a: 2 }, { a: 2 }],
    [{ a: { b: 1, c: 1 } }, { a: { c: 2 } }, { a: { b: 1, c: 2 } }],
    [{ a: [1, 2] }, { a: [3] }, { a: [3] }],
    [{ a: { b: 1 } }, { a: null }, { a: null }],
    [{ a: 'x' }, { a: { b: 1 } }, { a: { b: 1 } }],
  ])('%j under %j is %j', (under, over, merged) => {
    expect(mergeJson(under, over)).toEqual(merged);
  });

  it('keeps hostile keys as keys', () => {
    const merged = mergeJson(
      JSON.parse('{"toString": {"a": 1}}'),
      JSON.parse('{"__proto__": {"a": 1}, "valueOf": {}}'),
    );
    expect(JSON.stringify(merged)).toBe('{"toString":{"a":1},"__proto__":{"a":1},"valueOf":{}}');
    expect(Object.getPrototypeOf(merged)).toBe(Object.prototype);
  });
});

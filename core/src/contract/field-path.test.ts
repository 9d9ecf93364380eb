import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseFieldPath, readField } from './field-path.ts';

describe('parseFieldPath', () => {
  it.each([
    ['spec', ['spec']],
    ['metadata.labels.app', ['metadata', 'labels', 'app']],
    ['metadata.labels.kubernetes\\.io/service-name', ['metadata', 'labels', 'kubernetes.io/service-name']],
    ['metadata.labels."kubernetes.io/service-name"', ['metadata', 'labels', 'kubernetes.io/service-name']],
    ["metadata.'a.b'.c", ['metadata', 'a.b', 'c']],
    ['"a\\"b"', ['a"b']],
    ['a\\\\b', ['a\\b']],
    ['a\\,b', ['a,b']],
    ['spec.rules.0.host', ['spec', 'rules', '0', 'host']],
  ])('%s', (path, names) => {
    expect(parseFieldPath(path)).toEqual(names);
  });

  it.each([
    ['', 'path "", character 1: a name is empty'],
    ['a..b', 'path "a..b", character 3: a name is empty'],
    ['.a', 'path ".a", character 1: a name is empty'],
    ['a.', 'path "a.", character 3: a name is empty'],
    ['a.""', 'path "a.""", character 3: a name is empty'],
    ['a\\', 'path "a\\", character 2: nothing follows the backslash'],
    ['a."b', 'path "a."b", character 3: the quote is never closed'],
    ['a."b"c', 'path "a."b"c", character 6: expected a dot'],
    ['a,b', 'path "a,b", character 2: "," must be escaped or quoted'],
    ['a b', 'path "a b", character 2: " " must be escaped or quoted'],
    ["a['b']", `path "a['b']", character 2: "[" must be escaped or quoted`],
  ])('refuses %j', (path, message) => {
    expect(() => parseFieldPath(path)).toThrow(message);
  });

  it('reads back every list of names, escaped or quoted', () => {
    const name = fc.string({ minLength: 1, unit: 'binary' });
    fc.assert(
      fc.property(fc.array(name, { minLength: 1 }), (names) => {
        const escaped = names.map((text) => text.replaceAll(/[\s\\.,"'[\]]/g, '\\$&')).join('.');
        const quoted = names.map((text) => `"${text.replaceAll(/[\\"]/g, '\\$&')}"`).join('.');
        expect(parseFieldPath(escaped)).toEqual(names);
        expect(parseFieldPath(quoted)).toEqual(names);
      }),
    );
  });
});

describe('readField', () => {
  const object = { metadata: { labels: { 'a.b/c': 'x' } }, spec: { rules: [{ host: 'h' }], nothing: null } };
  it.each([
    ['metadata.labels.a\\.b/c', 'x'],
    ['spec.rules.0.host', 'h'],
    ['spec.nothing', null],
    ['spec.nothing.more', undefined],
    ['spec.rules.1.host', undefined],
    ['metadata.labels.a\\.b/c.length', undefined],
    ['constructor', undefined],
    ['__proto__.toString', undefined],
  ])('%s is %j', (path, value) => {
    expect(readField(object, parseFieldPath(path))).toBe(value);
  });
});

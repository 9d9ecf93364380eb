import { describe, expect, it } from 'vitest';
import { parseFieldSelector } from './field-selector.ts';

describe('parseFieldSelector', () => {
  const object = { metadata: { name: 'web' }, spec: { type: 'ClusterIP', odd: 'a,b=c', count: 3 } };
  it.each([
    ['', true],
    ['metadata.name=web', true],
    ['metadata.name==web', true],
    ['metadata.name!=web', false],
    ['spec.type!=ExternalName,metadata.name=web', true],
    ['spec.missing=', true],
    ['spec.missing=x', false],
    ['spec.odd=a\\,b\\=c', true],
    ['spec.count=3', true],
  ])('%s', (text, expected) => {
    expect(parseFieldSelector(text)(object)).toBe(expected);
  });

  it.each([
    [
      'metadata.name',
      'field selector "metadata.name": expected path=value or path!=value, got "metadata.name"',
    ],
    ['a=b,', 'field selector "a=b,": expected path=value or path!=value, got ""'],
    ['a..b=c', 'path "a..b", character 3: a name is empty'],
  ])('refuses %j', (text, message) => {
    expect(() => parseFieldSelector(text)).toThrow(message);
  });
});

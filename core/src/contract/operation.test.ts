import { describe, expect, it } from 'vitest';
import { isSupportedBy } from './operation.ts';

describe('isSupportedBy', () => {
  it.each([
    ['map.set', '3.0.0', true],
    ['backend.add', '3.3.9', false],
    ['backend.add', '3.4.0', true],
    ['backend.add', '3.4-dev3', true],
    ['backend.add', '4.0.0', true],
    ['backend.del', '3.4.3-1', false],
    ['backend.del', '3.4.4', true],
    ['backend.del', '3.5.0', true],
    ['ca.set', '3.0.12', false],
    ['ca.set', '3.0.11-1+deb13u4', false],
    ['ca.set', '3.0.13', true],
    ['ca.set', '3.1.20', false],
    ['ca.set', '3.2.7-1', false],
    ['ca.set', '3.2.26-1', true],
    ['ca.set', '3.3.0', true],
    ['ca.set', '3.4.7', true],
    ['ca.set', '', false],
  ] as const)('%s by %s: %s', (op, version, expected) => {
    expect(isSupportedBy(version, op)).toBe(expected);
  });
});

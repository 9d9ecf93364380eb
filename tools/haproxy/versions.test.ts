import { expect, test } from 'vitest';
import { isReleaseOf, isSupported, parseVersionOutput } from './versions.ts';

test.each([
  ['HAProxy version 3.4.7-1 2026/11/20 - https://haproxy.org/\nStatus: long-term', '3.4.7-1'],
  ['HAProxy version 3.0.11-1+deb13u4 2026/10/01 - https://haproxy.org/', '3.0.11-1+deb13u4'],
  ['HAProxy version 3.5-dev2-abc 2026/11/20', '3.5-dev2-abc'],
  ['nginx version: nginx/1.2', undefined],
  ['', undefined],
])('the version in %j', (output, version) => {
  expect(parseVersionOutput(output)).toBe(version);
});

test.each([
  ['3.4.7-1', '3.4', true],
  ['3.4.0', '3.4', true],
  ['3.40.1', '3.4', false],
  ['3.4-dev5', '3.4', false],
  ['3.4.0~rc1', '3.4', false],
  ['13.4.1', '3.4', false],
])('%s is a release of %s: %s', (version, minor, expected) => {
  expect(isReleaseOf(version, minor)).toBe(expected);
});

test('supported are exactly the three branches', () => {
  expect(['2.8', '3.0', '3.1', '3.2', '3.4', '3.40'].filter(isSupported)).toEqual(['3.0', '3.2', '3.4']);
});

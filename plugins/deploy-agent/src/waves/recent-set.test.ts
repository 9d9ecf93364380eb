import { expect, test } from 'vitest';
import { RecentSet } from './recent-set.ts';

test('what was not used for longest goes first', () => {
  const set = new RecentSet(3);
  set.add(['a', 'b', 'c']);
  expect(set.hasAll(['a'])).toBe(true);
  set.add(['d']);
  expect(set.hasAll(['b'])).toBe(false);
  expect(set.hasAll(['c', 'a'])).toBe(true);
  set.add(['a', 'e']);
  expect(set.hasAll(['d'])).toBe(false);
  expect(set.hasAll(['a', 'c', 'e'])).toBe(true);
});

test('asking for something that is not there keeps nothing else', () => {
  const set = new RecentSet(2);
  set.add(['a', 'b']);
  expect(set.hasAll(['a', 'x'])).toBe(false);
  set.add(['c']);
  expect(set.hasAll(['b', 'c'])).toBe(true);
  expect(set.hasAll([])).toBe(true);
});

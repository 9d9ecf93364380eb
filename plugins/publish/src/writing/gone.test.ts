import { expect, test } from 'vitest';
import { Gone } from './gone.ts';
import type { Pass } from './writer.ts';

const pass = (thorough: boolean, mayBeLate: boolean) => ({ thorough, mayBeLate }) as Pass;

test('what is gone is looked at once while something may be late, and once more before it is forgotten', () => {
  const gone = new Gone();
  const lost = new Map([
    ['a', 1],
    ['b', 2],
  ]);
  const early = pass(true, true);
  expect(gone.due(lost, early)).toEqual([...lost]);
  expect(gone.add('a', early)).toBe(false);
  expect(gone.due(lost, pass(false, true))).toEqual([['b', 2]]);
  expect(gone.due(lost, pass(false, false))).toEqual([...lost]);
  expect(gone.add('a', pass(false, false))).toBe(true);
});

test('what was wanted again in between is looked at when it is lost again', () => {
  const gone = new Gone();
  const lost = new Map([['a', 1]]);
  const early = pass(false, true);
  gone.due(lost, early);
  gone.add('a', early);
  expect(gone.due(new Map(), early)).toEqual([]);
  expect(gone.due(lost, early)).toEqual([['a', 1]]);
});

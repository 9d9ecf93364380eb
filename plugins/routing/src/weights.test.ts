import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { letterShares, shares } from './weights.ts';

test.each([
  [
    [70, 30, 0],
    [7, 3, 0],
  ],
  [
    [1, 1],
    [1, 1],
  ],
  [
    [999, 1],
    [999, 1],
  ],
  [
    [1_000_000, 1],
    [1000, 1],
  ],
  [
    [500_000, 250_000],
    [2, 1],
  ],
  [
    [0, 5],
    [0, 1],
  ],
])('%j is shared as %j', (weights, wanted) => {
  expect(shares(weights)).toEqual(wanted);
});

test('every weight has a share, in proportion, and the total stays small', () => {
  const weights = fc.array(fc.integer({ min: 0, max: 1_000_000 }), { minLength: 1, maxLength: 16 });
  fc.assert(
    fc.property(weights, (list) => {
      const counts = shares(list);
      const total = list.reduce((sum, weight) => sum + weight, 0);
      const totalCount = counts.reduce((sum, count) => sum + count, 0);
      expect(totalCount).toBeLessThanOrEqual(1000 + list.length);
      for (const [index, weight] of list.entries()) {
        const count = counts[index] ?? 0;
        expect(Number.isInteger(count) && count > 0).toBe(weight > 0);
        if (weight > 0) expect(Math.abs(count / totalCount - weight / total)).toBeLessThan(0.02);
      }
    }),
  );
});

test('one letter a share, none for weight 0', () => {
  expect(letterShares([2, 0, 1])).toEqual({ text: '3|aac', letters: ['a', undefined, 'c'] });
});

import { expect, test } from 'vitest';
import { insanity, type Sample } from './sanity.ts';

const sample = (pid: number, requests = 0, serverErrors = 0): Sample => ({
  worker: { pid, startedAt: 1 },
  health: { requests, serverErrors },
});

test('the same worker, that answers, is sane', () => {
  expect(insanity(sample(1), sample(2), sample(2))).toBeUndefined();
  expect(insanity(undefined, { worker: sample(2).worker }, { worker: sample(2).worker })).toBeUndefined();
});

test('another one, or none, is not', () => {
  expect(insanity(undefined, sample(2), sample(3))).toBe('HAProxy 2 is gone, 3 runs instead');
  expect(insanity(undefined, sample(2), { worker: { pid: 2, startedAt: 9 } })).toMatch('gone');
  expect(insanity(undefined, sample(2), { worker: null })).toMatch('does not answer');
  expect(insanity(undefined, { worker: null }, sample(2))).toMatch('does not answer');
});

test('more errors than before count, few do not', () => {
  const fresh = sample(2);
  expect(insanity(sample(1, 1_000, 10), fresh, sample(2, 100, 50))).toBe(
    '50 % of the requests fail, 1 % did before',
  );
  expect(insanity(sample(1, 1_000, 10), fresh, sample(2, 9, 9))).toBeUndefined();
  expect(insanity(sample(1, 1_000, 10), fresh, sample(2, 1_000, 60))).toBeUndefined();
  // It served nobody well before either: a pod without its first plan, or backends that are down.
  expect(insanity(sample(1, 1_000, 1_000), fresh, sample(2, 100, 100))).toBeUndefined();
  // What happened before the change is not the change's.
  expect(insanity(sample(2, 900, 0), sample(2, 1_000, 500), sample(2, 1_100, 500))).toBeUndefined();
});

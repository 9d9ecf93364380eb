import { Cancelled, Retry } from '@haptic/core/contract';
import { memoryLog } from '@haptic/core/testing';
import { ApiError } from '@haptic/kube';
import { expect, test } from 'vitest';
import { Attempts } from './attempts.ts';

const failing = (problem: Error) => async (): Promise<void> => {
  throw problem;
};

test('one that fails holds up nobody else, and the pass is tried again', async () => {
  const attempts = new Attempts({ log: memoryLog(), sentence: 'failed' });
  expect(await attempts.make('a', failing(new ApiError(422, 'Invalid', 'no')))).toBe(false);
  expect(await attempts.make('b', () => Promise.resolve())).toBe(true);
  expect(() => attempts.end()).toThrow(Retry);
  attempts.end();
});

test('what is left to do is told by name and number', async () => {
  const attempts = new Attempts({ log: memoryLog(), sentence: 'failed' });
  await attempts.make('a', failing(new Retry('away')));
  expect(() => attempts.end()).toThrow('a is not written yet');
  for (const about of ['a', 'b', 'c']) await attempts.make(about, failing(new Retry('away')));
  expect(() => attempts.end()).toThrow('a and 2 more are not written yet');
});

test('the end names the first right that is missing as its cause', async () => {
  const attempts = new Attempts({ log: memoryLog(), sentence: 'failed' });
  const forbidden = new ApiError(403, 'Forbidden', 'cannot patch');
  await attempts.make('a', failing(new Retry('away')));
  await attempts.make('b', failing(forbidden));
  expect(() => attempts.end()).toThrow(expect.objectContaining({ cause: forbidden }));
  await attempts.make('a', failing(new Retry('away')));
  expect(() => attempts.end()).toThrow(expect.objectContaining({ cause: undefined }));
});

test.each([
  new ApiError(429, 'TooManyRequests', 'busy'),
  new ApiError(503, '', 'goes away', { retryAfter: 1_000 }),
  new Retry('the state cannot be reached', { cause: new ApiError(429, 'TooManyRequests', 'busy') }),
  new Cancelled('over'),
])('$message: nothing more is tried', async (error) => {
  const log = memoryLog();
  const attempts = new Attempts({ log, sentence: 'failed' });
  await expect(attempts.make('a', failing(error))).rejects.toBe(error);
  expect(log.records).toEqual([]);
});

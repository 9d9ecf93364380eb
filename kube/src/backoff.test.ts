import { Retry } from '@haptic/core/contract';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { ApiError, parseRetryAfter } from './api-error.ts';
import { Backoff } from './backoff.ts';

test('a wait is below a bound that doubles up to the most', () => {
  const property = fc.property(
    fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
    fc.nat(100),
    (jitter, failures) => {
      const backoff = new Backoff({ first: 500, most: 30_000, random: () => jitter });
      let wait = 0;
      for (let failure = 0; failure <= failures; failure++) wait = backoff.next();
      expect(wait).toBeCloseTo(Math.min(30_000, 500 * 2 ** failures) * jitter);
    },
  );
  fc.assert(property);
});

test('a reset begins anew, and Retry-After comes on top', () => {
  const backoff = new Backoff({ first: 100, most: 1_000, random: () => 0.5 });
  expect([backoff.next(), backoff.next()]).toEqual([50, 100]);
  backoff.reset();
  const busy = new ApiError(429, 'TooManyRequests', 'busy', { retryAfter: 2_000 });
  expect(backoff.next(busy)).toBe(2_050);
  backoff.reset();
  const inWordsOfOthers = new Retry('it cannot be reached', { cause: busy });
  expect(backoff.next(inWordsOfOthers)).toBe(2_050);
});

test('Retry-After is obeyed for minutes, not for days', () => {
  const backoff = new Backoff({ first: 100, most: 1_000, random: () => 0 });
  const days = new ApiError(503, '', 'a page of a proxy', { retryAfter: 30 * 86_400_000 });
  expect(backoff.next(days)).toBe(300_000);
});

test('Retry-After is seconds or a date', () => {
  const wall = Date.parse('2030-01-01T00:00:00Z');
  expect(parseRetryAfter('7', wall)).toBe(7_000);
  expect(parseRetryAfter('Tue, 01 Jan 2030 00:00:30 GMT', wall)).toBe(30_000);
  expect(parseRetryAfter('Mon, 31 Dec 2029 00:00:00 GMT', wall)).toBe(0);
  expect(parseRetryAfter('soon', wall)).toBeUndefined();
  expect(parseRetryAfter(undefined, wall)).toBeUndefined();
});

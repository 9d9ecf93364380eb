import { describe, expect, it } from 'vitest';
import { FetchFailure, forbidden } from './network/failure.ts';
import { refreshDelay, retryDelay } from './schedule.ts';

const low = (): number => 0;
const high = (): number => 1;
const failure = new FetchFailure('x');

describe('the next attempt', () => {
  it('comes around the interval', () => {
    expect([refreshDelay(300_000, low), refreshDelay(300_000, high)]).toEqual([270_000, 330_000]);
  });

  it('comes sooner after a failure, later with each in a row, never later than the interval', () => {
    const delays = [1, 2, 3, 10, 100].map((failures) => retryDelay(failure, failures, 60_000, high));
    expect(delays).toEqual([1_000, 2_000, 4_000, 60_000, 60_000]);
    expect(retryDelay(failure, 1, 60_000, low)).toBe(500);
    expect(retryDelay(failure, 100, 86_400_000, high)).toBe(300_000);
  });

  it('waits as long as the server asks for', () => {
    expect(retryDelay(new FetchFailure('x', { retryAfterMs: 120_000 }), 1, 60_000, high)).toBe(120_000);
  });

  it('is no sooner for what is forbidden', () => {
    expect(retryDelay(forbidden('x'), 1, 60_000, high)).toBe(66_000);
  });
});

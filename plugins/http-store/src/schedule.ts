import type { FetchFailure } from './network/failure.ts';

const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 300_000;

/** A number from 0 to 1, for spreading what would else come together. */
export type Random = () => number;

/** Until the next look: a tenth of the interval earlier or later. */
export function refreshDelay(intervalMs: number, random: Random): number {
  return intervalMs * (0.9 + 0.2 * random());
}

/** After so many failures in a row, the last of them this one: doubling, never slower than the interval, spread. */
export function retryDelay(
  failure: FetchFailure,
  failures: number,
  intervalMs: number,
  random: Random,
): number {
  // What is forbidden stays so until somebody does something.
  if (failure.forbidden) return refreshDelay(intervalMs, random);
  const doubled = FIRST_RETRY_MS * 2 ** Math.min(failures - 1, 16);
  const longest = Math.min(doubled, intervalMs, LONGEST_RETRY_MS);
  return Math.max(longest * (0.5 + 0.5 * random()), failure.retryAfterMs ?? 0);
}

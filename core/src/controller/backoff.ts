const FIRST_MS = 1_000;
const LONGEST_MS = 60_000;

/** How long to wait after the n-th failure in a row, n from 1: doubling, bounded. */
export function backoff(failures: number): number {
  return Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(failures - 1, 16));
}

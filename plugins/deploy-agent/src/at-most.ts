import type { Clock } from '@haptic/core/contract';

/** Waits for the work, but no longer than so many milliseconds, and not beyond the signal; says nothing of what came of it. */
export async function atMost(
  ms: number,
  work: Promise<unknown>,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  const done = new AbortController();
  const late = clock.sleep(ms, AbortSignal.any([signal, done.signal])).catch(() => {});
  await Promise.race([work, late]);
  done.abort();
}

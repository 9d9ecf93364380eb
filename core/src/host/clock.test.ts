import { describe, expect, it } from 'vitest';
import { Cancelled } from '../contract/errors.ts';
import { systemClock } from './clock.ts';

/** Late in a millisecond of the clock that Node's timers cut to whole ones: those that are set now come early. */
function untilLateInAMillisecond(): void {
  while (process.hrtime.bigint() % 1_000_000n < 970_000n);
}

describe('the real time', () => {
  it('sleeps no shorter than it is told', async () => {
    for (let round = 0; round < 100; round++) {
      untilLateInAMillisecond();
      const start = systemClock.now();
      await systemClock.sleep(1);
      expect(systemClock.now() - start).toBeGreaterThanOrEqual(1);
    }
  });

  it('wakes when it is called off', async () => {
    const off = new AbortController();
    const sleep = systemClock.sleep(Infinity, off.signal);
    off.abort();
    await expect(sleep).rejects.toThrow(Cancelled);
  });
});

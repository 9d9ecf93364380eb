import { setTimeout as wait } from 'node:timers/promises';
import { Cancelled } from '../contract/errors.ts';
import type { Clock } from '../contract/observability.ts';

/** Node's timers fire at once beyond this: 24.8 days. */
const LONGEST_TIMER = 2 ** 31 - 1;

/**
 * The real time. A sleep is never too short by `now`: Node's timers count whole milliseconds and come up to one early. Whoever wakes
 * then would find nothing due yet, with nobody left to wake it again.
 */
export const systemClock: Clock = Object.freeze({
  now: () => performance.now(),
  wall: () => Date.now(),
  async sleep(ms: number, signal?: AbortSignal) {
    try {
      const until = performance.now() + Math.min(ms, LONGEST_TIMER);
      do {
        const left = Math.max(0, Math.ceil(until - performance.now()));
        await wait(left, undefined, signal === undefined ? {} : { signal });
      } while (performance.now() < until);
    } catch (cause) {
      throw new Cancelled('sleep was cancelled', { cause });
    }
  },
});

import { setTimeout as wait } from 'node:timers/promises';
import { Cancelled } from '../contract/errors.ts';
import type { Clock } from '../contract/observability.ts';

/** Node's timers fire at once beyond this: 24.8 days. */
const LONGEST_TIMER = 2 ** 31 - 1;

/** The real time. */
export const systemClock: Clock = Object.freeze({
  now: () => performance.now(),
  wall: () => Date.now(),
  async sleep(ms: number, signal?: AbortSignal) {
    try {
      await wait(Math.min(ms, LONGEST_TIMER), undefined, signal === undefined ? {} : { signal });
    } catch (cause) {
      throw new Cancelled('sleep was cancelled', { cause });
    }
  },
});

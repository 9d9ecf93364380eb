import type { Clock } from '@haptic/core/contract';

const FIRST_PAUSE_MS = 30_000;
/** A right that is missing may come. */
const LONGEST_PAUSE_MS = 600_000;

interface Refusal {
  readonly pause: number;
  readonly until: number;
}

/** When what the server refused is offered again: later and later. */
export class Refusals {
  readonly #clock: Clock;
  readonly #all = new Map<string, Refusal>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(key: string): void {
    const before = this.#all.get(key);
    const pause = before === undefined ? FIRST_PAUSE_MS : Math.min(before.pause * 2, LONGEST_PAUSE_MS);
    this.#all.set(key, { pause, until: this.#clock.now() + pause });
  }

  isPaused(key: string): boolean {
    return this.#clock.now() < (this.#all.get(key)?.until ?? 0);
  }

  keepOnly(isWanted: (key: string) => boolean): void {
    for (const key of this.#all.keys()) if (!isWanted(key)) this.#all.delete(key);
  }
}

import type { Clock } from '../contract/index.ts';

/**
 * When to act on a change: the first at once, those that follow together after the interval. Counted from when work began, so a
 * stream of changes is worked off at that pace and never put off for ever.
 */
export class Debounce {
  readonly #clock: Clock;
  #last = -Infinity;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Milliseconds from now. */
  delay(interval: number): number {
    return Math.max(0, this.#last + interval - this.#clock.now());
  }

  began(): void {
    this.#last = this.#clock.now();
  }
}

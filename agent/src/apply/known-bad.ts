import type { Clock } from '@haptic/core/contract';

/** How long files that HAProxy refused are not loaded again, milliseconds. */
const MEMORY_MS = 60_000;

/** The files that HAProxy refused last: only its own verdict counts, and only for the same files. */
export class KnownBad {
  readonly #clock: Clock;
  #last: { readonly planId: string; readonly words: string; readonly until: number } | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  note(planId: string, words: string): void {
    this.#last = { planId, words, until: this.#clock.now() + MEMORY_MS };
  }

  /** What HAProxy said of them; undefined when nothing is known against them. */
  words(planId: string): string | undefined {
    return this.#last?.planId === planId && this.#clock.now() < this.#last.until
      ? this.#last.words
      : undefined;
  }
}

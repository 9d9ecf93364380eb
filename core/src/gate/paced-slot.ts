import { Cancelled, type Clock } from '../contract/index.ts';

/**
 * One at a time, and after each run a rest of the same length: what goes through it takes half of one core at most, however much
 * there is to do.
 */
export class PacedSlot {
  readonly #clock: Clock;
  #last: Promise<void> = Promise.resolve();
  #notBefore = -Infinity;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Waits for its turn and for the rest of the run before. @throws Cancelled when the signal aborts before the work began. */
  async run<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const before = this.#last;
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    // Also behind one that was called off: the one before it may still run.
    this.#last = before.then(() => ended);
    try {
      await before;
      if (signal.aborted) throw new Cancelled();
      await this.#rest(signal);
      return await this.#measured(work);
    } finally {
      end();
    }
  }

  async #rest(signal: AbortSignal): Promise<void> {
    const left = this.#notBefore - this.#clock.now();
    if (left > 0) await this.#clock.sleep(left, signal);
  }

  async #measured<T>(work: () => Promise<T>): Promise<T> {
    const start = this.#clock.now();
    try {
      return await work();
    } finally {
      const end = this.#clock.now();
      this.#notBefore = end + (end - start);
    }
  }
}

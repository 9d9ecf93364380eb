import { Retry } from '@haptic/core/contract';

export interface TurnsOptions {
  /** How many are at work at once: each holds a whole render in memory. */
  readonly atOnce: number;
  /** How many may wait. */
  readonly waiting: number;
}

/** Bounds what others can make the controller render at once. */
export class Turns {
  readonly #options: TurnsOptions;
  readonly #queue = new Set<() => void>();
  #taken = 0;

  constructor(options: TurnsOptions) {
    this.#options = options;
  }

  /** @throws Retry when too many wait, what `work` throws, and the reason of the signal when it comes first. */
  async take<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.#place(signal);
    try {
      return await work();
    } finally {
      this.#handOn();
    }
  }

  async #place(signal: AbortSignal): Promise<void> {
    const { atOnce, waiting } = this.#options;
    signal.throwIfAborted();
    if (this.#taken < atOnce) {
      this.#taken += 1;
      return;
    }
    if (this.#queue.size >= waiting) throw new Retry(`${waiting} others wait to be judged`);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const giveUp = (): void => {
      // Whom a place was handed to has left the queue, and keeps it.
      if (this.#queue.delete(resolve)) reject(signal.reason as Error);
    };
    this.#queue.add(resolve);
    signal.addEventListener('abort', giveUp, { once: true });
    try {
      await promise;
    } finally {
      signal.removeEventListener('abort', giveUp);
    }
  }

  /** A place goes from hand to hand: `#taken` falls only when nobody waits. */
  #handOn(): void {
    const [next] = this.#queue;
    if (next === undefined) {
      this.#taken -= 1;
      return;
    }
    this.#queue.delete(next);
    next();
  }
}

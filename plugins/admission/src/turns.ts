import { Retry, type Clock } from '@haptic/core/contract';

export interface TurnsOptions {
  readonly clock: Clock;
  /** How many are at work at once. */
  readonly atOnce: number;
  /** How many may wait. */
  readonly waiting: number;
  /** For how long all places may work without a rest, milliseconds. Half of the time that passes is given back. */
  readonly burst: number;
}

/** A judge that hangs keeps nobody waiting twice. */
const LONGEST_REST_MS = 1_000;

/**
 * Bounds what others can make the controller render. A burst is judged as fast as can be; who goes on and on finds that each place rests
 * after a turn for as long as that took, so that a flood leaves half of the time to the renders that serve.
 */
export class Turns {
  readonly #options: TurnsOptions;
  readonly #queue = new Set<() => void>();
  #taken = 0;
  /** Milliseconds of work, all places together being one, that are not given back yet; as of `#countedAt`. */
  #worked = 0;
  #countedAt = 0;

  constructor(options: TurnsOptions) {
    this.#options = options;
  }

  /** @throws Retry when too many wait, what `work` throws, and the reason of the signal when it comes first. */
  async take<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.#place(signal);
    const { clock } = this.#options;
    const since = clock.now();
    try {
      return await work();
    } finally {
      void this.#rest(this.#restAfter(clock.now() - since));
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

  #restAfter(ms: number): number {
    const { clock, atOnce, burst } = this.#options;
    const now = clock.now();
    this.#worked = Math.max(0, this.#worked - (now - this.#countedAt) / 2) + ms / atOnce;
    this.#countedAt = now;
    return this.#worked > burst ? Math.min(ms, LONGEST_REST_MS) : 0;
  }

  /** A place goes from hand to hand: `#taken` falls only when nobody waits. */
  async #rest(ms: number): Promise<void> {
    if (ms > 0) await this.#options.clock.sleep(ms).catch(() => {});
    const [next] = this.#queue;
    if (next === undefined) {
      this.#taken -= 1;
      return;
    }
    this.#queue.delete(next);
    next();
  }
}

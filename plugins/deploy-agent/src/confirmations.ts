import type { Clock } from '@haptic/core/contract';
import type { Order } from './order.ts';

/** A pod is told at most once in so many milliseconds that what it runs passed all judges. */
const PACE_MS = 1_000;

export interface ConfirmationFacts {
  readonly clock: Clock;
  /** Tells the pod, if it still runs that plan. False: it does not answer. */
  readonly send: (order: Order, signal: AbortSignal) => Promise<boolean>;
}

interface Wish {
  readonly order: Order;
  /** Aborted when nobody wants it told any more. */
  readonly signal: AbortSignal;
}

/** Late verdicts on what one pod runs, told at a pace: the newest counts, and is kept until the pod has heard of it. */
export class Confirmations {
  readonly #facts: ConfirmationFacts;
  #wish: Wish | undefined;
  #isRunning = false;
  #last = Number.NEGATIVE_INFINITY;

  constructor(facts: ConfirmationFacts) {
    this.#facts = facts;
  }

  add(order: Order, signal: AbortSignal): void {
    this.#wish = { order, signal };
    this.resume();
  }

  /** The pod answers again. */
  resume(): void {
    if (this.#isRunning || this.#wish === undefined) return;
    this.#isRunning = true;
    void this.#run();
  }

  async #run(): Promise<void> {
    const { clock, send } = this.#facts;
    try {
      for (let wish = this.#wish; wish !== undefined; wish = this.#wish) {
        const { signal } = wish;
        const wait = this.#last + PACE_MS - clock.now();
        // A newer one may have come meanwhile.
        if (wait > 0 && !signal.aborted) {
          await clock.sleep(wait, signal).catch(() => {});
          continue;
        }
        const isHeard = signal.aborted || (await this.#send(wish, send));
        if (!isHeard) return;
        if (this.#wish === wish) this.#wish = undefined;
      }
    } finally {
      this.#isRunning = false;
    }
  }

  async #send({ order, signal }: Wish, send: ConfirmationFacts['send']): Promise<boolean> {
    this.#last = this.#facts.clock.now();
    try {
      return await send(order, signal);
    } catch {
      // Given up in the middle: it is asked again what the pod runs before it is told once more.
      return signal.aborted;
    }
  }
}

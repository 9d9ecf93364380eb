import type { Clock } from '@haptic/core/contract';
import { systemClock } from '@haptic/core/host';

/** The real time, which a test moves on: who waits for what has come by then wakes. */
export class SkippingClock implements Clock {
  #skipped = 0;
  readonly #waiting = new Set<() => void>();

  now(): number {
    return systemClock.now() + this.#skipped;
  }

  wall(): number {
    return systemClock.wall() + this.#skipped;
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    const until = this.now() + ms;
    for (let left = ms; left > 0; left = until - this.now()) await this.#sleepOnce(left, signal);
    if (ms <= 0) await systemClock.sleep(ms, signal);
  }

  skip(ms: number): void {
    this.#skipped += ms;
    for (const wake of this.#waiting) wake();
  }

  /** To its end, or until time is skipped. */
  async #sleepOnce(ms: number, signal: AbortSignal | undefined): Promise<void> {
    const skipped = new AbortController();
    const wake = (): void => skipped.abort();
    this.#waiting.add(wake);
    const either = signal === undefined ? skipped.signal : AbortSignal.any([skipped.signal, signal]);
    try {
      await systemClock.sleep(ms, either);
    } catch (error) {
      if (!skipped.signal.aborted || signal?.aborted === true) throw error;
    } finally {
      this.#waiting.delete(wake);
    }
  }
}

import type { Clock } from '@haptic/core/contract';

export interface Rate {
  readonly burst: number;
  /** Milliseconds until one more is allowed. */
  readonly every: number;
}

export class TokenBucket {
  readonly #rate: Rate;
  readonly #clock: Clock;
  #tokens: number;
  #filledAt: number;

  constructor(rate: Rate, clock: Clock) {
    this.#rate = rate;
    this.#clock = clock;
    this.#tokens = rate.burst;
    this.#filledAt = clock.now();
  }

  take(): boolean {
    this.#fill();
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  /** Nothing would be lost by forgetting this one. */
  get full(): boolean {
    this.#fill();
    return this.#tokens >= this.#rate.burst;
  }

  #fill(): void {
    const now = this.#clock.now();
    this.#tokens = Math.min(this.#rate.burst, this.#tokens + (now - this.#filledAt) / this.#rate.every);
    this.#filledAt = now;
  }
}

import type { Clock } from '@haptic/core/contract';

/** From winning the Lease to losing it. */
export class LeaseTerm {
  readonly #clock: Clock;
  readonly #deadline: number;
  readonly #ended = new AbortController();
  #renewedAt: number;
  #epoch: number;

  constructor(epoch: number, renewedAt: number, renewDeadline: number, clock: Clock) {
    this.#epoch = epoch;
    this.#renewedAt = renewedAt;
    this.#deadline = renewDeadline;
    this.#clock = clock;
  }

  get epoch(): number {
    return this.#epoch;
  }

  /** Aborted when the term ends, before anybody else can take the Lease. */
  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  /** Milliseconds until the term ends by itself. */
  get left(): number {
    return this.#ended.signal.aborted ? 0 : this.#renewedAt + this.#deadline - this.#clock.now();
  }

  /** By the clock, not by a timer: right also at once after the process was stopped for a while. */
  get leader(): boolean {
    return this.left > 0;
  }

  /** `sentAt`: before the request left, so that the time on the way counts against us. */
  renewed(epoch: number, sentAt: number): void {
    this.#epoch = epoch;
    this.#renewedAt = sentAt;
  }

  end(reason: Error): void {
    this.#ended.abort(reason);
  }
}

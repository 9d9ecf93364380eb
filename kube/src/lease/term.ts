import type { Clock } from '@haptic/core/contract';
import type { LeaseTiming } from './timing.ts';

/** From winning the Lease to losing it. */
export class LeaseTerm {
  readonly #clock: Clock;
  readonly #ended = new AbortController();
  #deadline: number;
  #timing: LeaseTiming;
  #renewedAt: number;
  #epoch: number;

  constructor(epoch: number, renewedAt: number, timing: LeaseTiming, clock: Clock) {
    this.#epoch = epoch;
    this.#renewedAt = renewedAt;
    this.#timing = timing;
    this.#deadline = timing.renewDeadline;
    this.#clock = clock;
  }

  /** What the Lease promises of it. */
  get timing(): LeaseTiming {
    return this.#timing;
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

  /** Another promise is on its way: until it is known which of the two the Lease makes, both are kept. */
  promises({ renewDeadline }: LeaseTiming): void {
    this.#deadline = Math.min(this.#deadline, renewDeadline);
  }

  /** `sentAt`: before the request left, so that the time on the way counts against us. */
  renewed(epoch: number, sentAt: number, timing: LeaseTiming): void {
    this.#epoch = epoch;
    this.#renewedAt = sentAt;
    this.#timing = timing;
    this.#deadline = timing.renewDeadline;
  }

  end(reason: Error): void {
    this.#ended.abort(reason);
  }
}

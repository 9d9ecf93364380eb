import type { Clock, Outcome } from '@haptic/core/contract';

/** How long a plan that a pod's HAProxy refused is not tried there again, milliseconds. */
const MEMORY_MS = 60_000;

/** The last plan that the pod's own HAProxy refused: only its verdicts count, not an agent that is away or a full disk. */
export class KnownBad {
  readonly #clock: Clock;
  #last: { readonly planId: string; readonly until: number; readonly message: string } | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  note(planId: string, message: string): void {
    this.#last = { planId, message, until: this.#clock.now() + MEMORY_MS };
  }

  /** The outcome that a plan would have again. */
  outcome(planId: string): Pick<Outcome, 'result' | 'stage' | 'message'> | undefined {
    if (this.#last?.planId !== planId || this.#clock.now() >= this.#last.until) return undefined;
    return { result: 'rejected', stage: 'reload', message: this.#last.message };
  }
}

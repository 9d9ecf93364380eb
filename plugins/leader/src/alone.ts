import type { Term, Terms } from '@haptic/core/contract';

/** Leads without asking anybody. */
export class Alone implements Pick<Terms, 'current' | 'raise'> {
  readonly #signal = new AbortController().signal;
  #epoch: number;

  constructor(epoch: number) {
    this.#epoch = epoch;
  }

  current(): Term {
    return { leader: true, epoch: this.#epoch, signal: this.#signal };
  }

  raise(seen: number): Promise<number> {
    this.#epoch = Math.max(this.#epoch, seen + 1);
    return Promise.resolve(this.#epoch);
  }
}

import type { Term } from '@haptic/core/contract';

/**
 * The epoch that orders this process's applies: the term's; without one, a higher one than any agent has seen when this process
 * first writes to it.
 */
export class Epoch {
  readonly #term: () => Term | undefined;
  #own = 1;

  /** The provider may be set up after us, so it is asked for each time. */
  constructor(term: () => Term | undefined) {
    this.#term = term;
  }

  get value(): number {
    return this.#term()?.epoch ?? this.#own;
  }

  /** An agent that this process has not written to yet has seen this epoch. False: a term decides, stand down. */
  outbid(seen: number): boolean {
    if (this.#term() !== undefined) return seen < this.value;
    this.#own = Math.max(this.#own, seen + 1);
    return true;
  }
}

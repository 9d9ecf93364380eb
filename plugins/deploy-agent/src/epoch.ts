import { Cancelled, type Terms } from '@haptic/core/contract';
import { LIMITS, type Token } from '@haptic/agent/protocol';

/** Whether an agent can have seen this epoch, and takes the one after it. */
export function isBelievable(epoch: number): boolean {
  return epoch < LIMITS.epoch;
}

/**
 * The epoch that orders this process's applies: the term's; where nobody provides terms, a higher one than any agent has seen when
 * this process first writes to it.
 */
export class Epoch {
  readonly #terms: () => Terms | undefined;
  #own = 1;
  /** Of the last token, whichever pod it was for: a pod that comes back has seen some of them. */
  #last: Token = { epoch: 0, seq: 0 };

  /** The provider may be set up after us, so it is asked for each time. */
  constructor(terms: () => Terms | undefined) {
    this.#terms = terms;
  }

  get hasTerms(): boolean {
    return this.#terms() !== undefined;
  }

  /** Higher than all before it. @throws Cancelled outside of a term: nobody writes then. */
  next(): Token {
    this.#last = { epoch: this.#value(), seq: this.#last.seq + 1 };
    return this.#last;
  }

  /** Without terms: an agent that this process has not written to yet has seen this epoch. */
  rise(seen: number): void {
    if (isBelievable(seen)) this.#own = Math.max(this.#own, seen + 1);
  }

  /** In a term: an agent holds our token for stale since it has seen this one. False: the term is not ours any more, stand down. */
  async outbid(seen: Token, signal: AbortSignal): Promise<boolean> {
    const terms = this.#terms();
    if (terms === undefined || !isBelievable(seen.epoch)) return false;
    const isOurs = seen.epoch === this.#last.epoch && seen.seq <= this.#last.seq;
    try {
      if (seen.epoch >= this.#value() && !isOurs) await terms.raise(seen.epoch, signal);
      return true;
    } catch (error) {
      if (error instanceof Cancelled) return false;
      throw error;
    }
  }

  #value(): number {
    const terms = this.#terms();
    if (terms === undefined) return this.#own;
    const { leader, epoch } = terms.current();
    if (!leader) throw new Cancelled('this process does not lead');
    return epoch;
  }
}

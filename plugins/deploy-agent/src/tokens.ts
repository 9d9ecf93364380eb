import type { Token } from '@haptic/agent/protocol';
import type { Epoch } from './epoch.ts';

/** The tokens of all writes to one pod. */
export class Tokens {
  readonly #epoch: Epoch;
  /** The epochs of the last token, and of the last one that the pod took. */
  #lastEpoch = 0;
  #acceptedIn = 0;

  constructor(epoch: Epoch) {
    this.#epoch = epoch;
  }

  /** Higher than all before it; without terms also than what the pod has seen if nothing was written to it yet. @throws Cancelled */
  next(seen: Token | null): Token {
    if (this.#acceptedIn === 0 && seen !== null) this.#epoch.rise(seen.epoch);
    const token = this.#epoch.next();
    this.#lastEpoch = token.epoch;
    return token;
  }

  /** The pod took what came with the last token. */
  accepted(): void {
    this.#acceptedIn = this.#lastEpoch;
  }

  /** The pod has seen this token and holds ours for stale. False: another controller writes to it. */
  async outbid(seen: Token | null, signal: AbortSignal): Promise<boolean> {
    const token = seen ?? { epoch: 0, seq: 0 };
    if (this.#epoch.hasTerms) return await this.#epoch.outbid(token, signal);
    if (this.#acceptedIn > 0 && token.epoch > this.#acceptedIn) return false;
    this.#epoch.rise(token.epoch);
    return true;
  }
}

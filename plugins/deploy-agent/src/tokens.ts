import type { Token } from '@haptic/agent/protocol';
import type { Epoch } from './epoch.ts';

/** The tokens of all writes to one pod. */
export class Tokens {
  readonly #epoch: Epoch;
  #seq = 0;
  /** The epoch of the last token. */
  #seqEpoch = 0;
  /** The epoch in which the pod last took something from this process. */
  #acceptedIn = 0;

  constructor(epoch: Epoch) {
    this.#epoch = epoch;
  }

  /** Higher than all before it, and than what the pod has seen if nothing was written to it yet. */
  next(seen: Token | null): Token {
    const epochSeen = seen?.epoch ?? 0;
    if (this.#acceptedIn === 0 && epochSeen >= this.#epoch.value) this.#epoch.outbid(epochSeen);
    if (this.#seqEpoch !== this.#epoch.value) this.#seq = 0;
    this.#seqEpoch = this.#epoch.value;
    this.#seq += 1;
    return { epoch: this.#seqEpoch, seq: this.#seq };
  }

  /** The pod took what came with the last token. */
  accepted(): void {
    this.#acceptedIn = this.#seqEpoch;
  }

  /** The pod has seen this token and holds ours for stale. False: another controller writes to it. */
  outbid(seen: Token | null): boolean {
    const epochSeen = seen?.epoch ?? 0;
    const takenOver = this.#acceptedIn > 0 && epochSeen > this.#acceptedIn;
    return !takenOver && this.#epoch.outbid(epochSeen);
  }
}

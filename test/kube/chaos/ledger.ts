import { expect } from 'vitest';
import type { Taken } from './agent-relay.ts';

/** A term that a controller said it began. */
export interface Claim {
  readonly controller: string;
  readonly epoch: number;
}

/** Everything that agents took, from whom, in their order. */
export class Ledger {
  readonly #taken: Taken[] = [];
  readonly note = (taken: Taken): void => void this.#taken.push(taken);

  get size(): number {
    return this.#taken.length;
  }

  /** Plans that a pod was given in some term. */
  plansOf(pod: string): ReadonlySet<string> {
    return new Set(this.#of(pod).map(({ planId }) => planId));
  }

  /** At every agent epochs only rise, and what carries an epoch is from who led with it. */
  expectNoStaleWrite(pods: readonly string[], claims: readonly Claim[]): void {
    for (const pod of pods) {
      // Generations are the agent's own order: answers overtake each other, applies do not.
      const chain = this.#of(pod).toSorted((a, b) => a.generation - b.generation || a.epoch - b.epoch);
      for (const [index, taken] of chain.entries()) {
        const before = chain[index - 1];
        expect(taken.epoch, words(taken, before)).toBeGreaterThanOrEqual(before?.epoch ?? 0);
        expect(leaderOf(taken.epoch, claims), words(taken, before)).toBe(taken.controller);
      }
    }
  }

  #of(pod: string): readonly Taken[] {
    return this.#taken.filter((taken) => taken.pod === pod);
  }
}

/** Whoever began the last term up to this epoch: a term may raise its epoch without saying so. */
function leaderOf(epoch: number, claims: readonly Claim[]): string | undefined {
  return claims.filter((claim) => claim.epoch <= epoch).toSorted((a, b) => b.epoch - a.epoch)[0]?.controller;
}

function words(taken: Taken, before: Taken | undefined): string {
  return `${JSON.stringify(taken)} after ${JSON.stringify(before)}`;
}

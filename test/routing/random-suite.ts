import { expect, test } from 'vitest';
import { forEachVersion } from '../haproxy/versions.ts';
import { withoutFastPath } from './libraries.ts';
import { randomSet, requestsPerSet } from './random-run.ts';
import { upstream } from './site.ts';

const firstSeed = Number(process.env['HAPTIC_SEED'] ?? 1);

/** Declares the comparison of that many random rule sets with the oracle, on every version. */
export function compareWithOracle(sets: number): void {
  forEachVersion((haproxy) => {
    test(`${sets} random rule sets, ${sets * requestsPerSet} requests, are decided as the oracle does`, async () => {
      const { port: upstreamPort } = await upstream();
      for (let seed = firstSeed; seed < firstSeed + sets; seed += 1) {
        // Every other set without the fast path: both must decide alike.
        const editBase = seed % 2 === 0 ? withoutFastPath : undefined;
        const differences = await randomSet({ haproxy, upstreamPort, seed, editBase });
        expect(differences, `HAPTIC_SEED=${seed}`).toEqual([]);
      }
    });
  });
}

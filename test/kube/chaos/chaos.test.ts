import { describe, test } from 'vitest';
import { withOwnClusters } from '../../cluster/index.ts';
import { seeded } from '../../haproxy/seeded.ts';
import { whyNoOrigins } from '../e2e/origins.ts';
import { faults } from './faults.ts';
import { outlive } from './outlive.ts';
import { Scene } from './scene.ts';

const soak = process.env['HAPTIC_SOAK'] === '1';
/** Each fault in turn, this often; the short run takes some of them. */
const rounds = soak ? 5 : 1;
const most = soak ? Infinity : 5;
const LONG = soak ? 3_600_000 : 600_000;

const noOrigins = await whyNoOrigins();

withOwnClusters((start) => {
  describe.skipIf(noOrigins !== undefined)(
    `an installation${noOrigins === undefined ? '' : ` (${noOrigins})`}`,
    () => {
      test.each([1, 2, 3])('with %d controllers outlives every fault', { timeout: LONG }, async (count) => {
        const seed = Number(process.env['HAPTIC_SEED'] ?? Date.now() % 2 ** 31);
        const random = seeded(seed);
        console.log(`seed ${seed}`);
        const cluster = await start({ controllers: false });
        const scene = await Scene.open(cluster, count, random);
        const prober = scene.probe();
        const only = process.env['HAPTIC_FAULT'];
        const chosen = Object.entries(faults).filter(([words]) => only === undefined || words.includes(only));
        let slowest = 0;
        for (let round = 0; round < rounds; round += 1) {
          const shuffled = chosen
            .map((fault) => ({ fault, place: random() }))
            .toSorted((a, b) => a.place - b.place)
            .slice(0, only === undefined ? most : Infinity);
          for (const { fault } of shuffled) {
            slowest = Math.max(slowest, await outlive(scene, prober, fault));
          }
        }
        console.log(
          `${count} controllers: slowest to catch up ${Math.round(slowest)} ms, ${prober.answers} answers, ${scene.ledger.size} applies, ${scene.highestEpoch} terms`,
        );
      });
    },
  );
});

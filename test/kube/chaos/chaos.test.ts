import { describe, expect, test } from 'vitest';
import { withOwnClusters } from '../../cluster/index.ts';
import { seeded } from '../../haproxy/seeded.ts';
import { until } from '../../haproxy/until.ts';
import { whyNoOrigins } from '../e2e/origins.ts';
import { faults } from './faults.ts';
import { Scene } from './scene.ts';

const soak = process.env['HAPTIC_SOAK'] === '1';
/** Each fault in turn, this often; the short run takes some of them. */
const rounds = soak ? 5 : 1;
const most = soak ? Infinity : 5;
const LONG = soak ? 3_600_000 : 600_000;

const MIB = 1024 * 1024;
const noOrigins = await whyNoOrigins();

/** Of the one that uses most. */
async function mostHeap({ replicas }: Scene): Promise<number> {
  const heaps: number[] = [];
  for (const replica of replicas) heaps.push(await replica.heap());
  return Math.max(...heaps);
}

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
        const heaps: number[] = [];
        let slowest = 0;
        for (let round = 0; round < rounds; round += 1) {
          const shuffled = chosen
            .map((fault) => ({ fault, place: random() }))
            .toSorted((a, b) => a.place - b.place)
            .slice(0, only === undefined ? most : Infinity);
          for (const { fault } of shuffled) {
            const [words, harm] = fault;
            let host = '';
            const write = async (): Promise<void> => {
              host = await scene.write();
            };
            try {
              await harm(scene, write);
              const mended = performance.now();
              await scene.untilServed(host);
              await until(() => prober.set === scene.set, {
                deadlineMs: 90_000,
                what: 'the last set serves',
              });
              slowest = Math.max(slowest, performance.now() - mended);
              await scene.expectConsistent();
              expect(prober.wrong, 'answers to who asks all the time').toEqual([]);
              await scene.delete(host);
              await scene.untilGone(host);
            } catch (cause) {
              throw new Error(`after: ${words}\n${String(cause)}\n${scene.words()}`, { cause });
            }
          }
          heaps.push(await mostHeap(scene));
        }
        const told = heaps.map((bytes) => (bytes / MIB).toFixed(1)).join(' ');
        console.log(
          `${count} controllers: slowest to catch up ${Math.round(slowest)} ms, ${prober.answers} answers, ${scene.ledger.size} applies, ${scene.highestEpoch} terms, heap MiB ${told}`,
        );
        const [first = 0] = heaps;
        expect(heaps.at(-1), 'bytes in use after the last round').toBeLessThan(first * 1.25 + 8 * MIB);
      });
    },
  );
});

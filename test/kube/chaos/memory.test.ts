import { describe, expect, test } from 'vitest';
import { withOwnClusters } from '../../cluster/index.ts';
import { seeded } from '../../haproxy/seeded.ts';
import { whyNoOrigins } from '../e2e/origins.ts';
import { faults } from './faults.ts';
import { outlive } from './outlive.ts';
import { Scene } from './scene.ts';

const soak = process.env['HAPTIC_SOAK'] === '1';
const rounds = soak ? 30 : 4;
const LONG = soak ? 3_600_000 : 600_000;
const MIB = 1024 * 1024;
const noOrigins = await whyNoOrigins();

/** They leave the process as it is, which has to make new watches, connections, configurations and plans each time. */
const names = [
  'every connection is cut',
  'a configuration is written object by object',
  'a broken configuration is written, and mended',
  ...(soak ? (['history is forgotten while nobody watches', 'the API server is killed'] as const) : []),
] as const;

function mean(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
}

withOwnClusters((start) => {
  describe.skipIf(noOrigins !== undefined)(
    `memory${noOrigins === undefined ? '' : ` (${noOrigins})`}`,
    () => {
      test(`of one process is the same after ${rounds} rounds of faults`, { timeout: LONG }, async () => {
        const cluster = await start({ controllers: false });
        const scene = await Scene.open(cluster, 1, seeded(1));
        const prober = scene.probe();
        const [replica] = scene.replicas;
        const heaps: number[] = [];
        for (let round = 0; round < rounds; round += 1) {
          for (const name of names) await outlive(scene, prober, [name, faults[name]!]);
          heaps.push(await replica!.heap());
        }
        expect(scene.replicas).toEqual([replica]);
        console.log(`heap MiB after each round: ${heaps.map((bytes) => (bytes / MIB).toFixed(1)).join(' ')}`);
        // The first round compiles and caches what every process does.
        const [, ...warm] = heaps;
        const third = Math.ceil(warm.length / 3);
        const grown = mean(warm.slice(-third)) - mean(warm.slice(0, third));
        expect(grown / MIB, 'MiB more in the last rounds than in the first').toBeLessThan(soak ? 2 : 4);
      });
    },
  );
});

import { describe, expect, test } from 'vitest';
import { withOwnClusters } from '../../cluster/index.ts';
import { seeded } from '../../haproxy/seeded.ts';
import { until } from '../../haproxy/until.ts';
import { Disturbed } from './disturbed.ts';
import { faults } from './faults.ts';

const rounds = process.env['HAPTIC_SOAK'] === '1' ? 5 : 1;
const LONG = 600_000 * rounds;
/** Requests, reads among them; those of a loop without pauses would be thousands. */
const MOST_OF_A_ROUND = 250;
const MOST_A_SECOND = 20;
const only = process.env['HAPTIC_FAULT'] ?? '';

withOwnClusters((start) => {
  describe('what is published', () => {
    test('is there once, whatever happens meanwhile', { timeout: LONG }, async () => {
      const seed = Number(process.env['HAPTIC_SEED'] ?? Date.now() % 2 ** 31);
      const random = seeded(seed);
      console.log(`seed ${seed}`);
      const scene = await Disturbed.open(await start({ controllers: false }));
      await scene.prepare();
      scene.tell();
      await scene.untilAsTold();
      const { sent } = scene.way;
      for (let round = 0; round < rounds; round += 1) {
        for (const [words, harm] of Object.entries(faults)) {
          if (!words.includes(only)) continue;
          scene.isolate();
          await scene.prepare();
          const [before, since] = [sent.tried, performance.now()];
          try {
            await harm(scene, random);
            sent.onWrite = {};
            await scene.untilAsTold();
          } catch (cause) {
            const log = scene.way.publishing.log.records.map(
              ({ message, fields }) => `${message} ${String(fields['err'])}`,
            );
            throw new Error(`after: ${words}\n${String(cause)}\n${log.slice(-40).join('\n')}`, { cause });
          }
          const seconds = (performance.now() - since) / 1_000;
          const tried = sent.tried - before;
          console.log(`${words}: ${tried} requests in ${seconds.toFixed(1)} s`);
          expect(tried, words).toBeLessThan(MOST_OF_A_ROUND + MOST_A_SECOND * seconds);
        }
      }
      expect((await scene.notes()).toSorted()).toEqual(scene.expectedNotes().toSorted());
    });

    test('is finished by who succeeds one that was cut off in the middle', { timeout: LONG }, async () => {
      const scene = await Disturbed.open(await start({ controllers: false }));
      await scene.prepare();
      scene.tell();
      await scene.untilAsTold();
      for (const changes of [1, 4, 8]) {
        scene.isolate();
        await scene.prepare();
        const { proxy, sent } = scene.way;
        let seen = 0;
        sent.onWrite = {
          written() {
            seen += 1;
            if (seen === changes) scene.isolate();
          },
        };
        proxy.refuse(false);
        scene.tell();
        await until(() => seen >= changes, { deadlineMs: 90_000, what: `${changes} changes` });
        // Never another thing that the first one left there.
        await scene.prepare();
        await scene.succeed();
        scene.tell();
        await scene.untilAsTold();
      }
    });
  });
});

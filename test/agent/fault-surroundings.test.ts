import { execFileSync } from 'node:child_process';
import { mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { onCleanup } from '../haproxy/cleanup.ts';
import { forEachVersion } from '../haproxy/versions.ts';
import { pointsOf, textsForFaults } from './fault-points.ts';
import { scenarios, worldOf } from './fault-scenarios.ts';
import { FaultyPod } from './faulty-pod.ts';
import { Pod } from './pod.ts';
import { FILLER, type Fault } from './programs/fault.ts';

const isSoak = process.env['HAPTIC_SOAK'] === '1';
const timeout = isSoak ? 3_600_000 : 300_000;

type Row = readonly [scenario: string, at: string];

/** Disturbs applies at these moments, in the long run at all there are. */
async function disturb(
  faulty: FaultyPod,
  { does, rows, mend }: { does: Fault['does']; rows: readonly Row[]; mend?: () => Promise<void> },
): Promise<void> {
  const all = scenarios(await textsForFaults());
  const points = isSoak
    ? (await pointsOf(faulty, all)).map(({ scenario, at }): Row => [scenario.name, at])
    : rows;
  for (const [name, at] of points) {
    const words = `${name}, ${does} at ${at}`;
    const scenario = all.find((one) => one.name === name)!;
    const attempt = await faulty.prepare(scenario);
    await faulty.pod.order(does, at);
    const reply = await faulty.send(attempt);
    await faulty.expectWhole(attempt, words);
    await mend?.();
    await faulty.expectTold(attempt, reply, words);
    await faulty.pod.orderNothing();
  }
  // And goes on as if nothing had been.
  const [reload] = all;
  const attempt = await faulty.prepare(reload!);
  expect((await faulty.send(attempt))?.body.outcome).toBe('reload');
  await faulty.expectSettled(attempt, 'afterwards');
}

const whenKilled: Readonly<Record<'kill-worker' | 'kill-master', readonly Row[]>> = {
  'kill-worker': [
    ['operations', 'operated:1'],
    ['a reload', 'committed:1'],
    ['a refused reload', 'refused:1'],
    ['a refused reload', 'entered:1'],
  ],
  'kill-master': [
    ['operations', 'committed:1'],
    ['operations', 'changed:1'],
    ['a reload', 'reloaded:1'],
  ],
};

forEachVersion(({ binary }) => {
  for (const [does, rows] of Object.entries(whenKilled)) {
    test(`an apply outlives a ${does.slice(5)} that is killed in the middle of it`, { timeout }, async () => {
      const faulty = await FaultyPod.start(
        await Pod.create(binary),
        binary,
        worldOf(1, await textsForFaults()),
      );
      await disturb(faulty, { does: does as Fault['does'], rows });
    });
  }

  test('an apply for which the disk is too small takes nothing away', { timeout }, async (context) => {
    if (process.getuid?.() !== 0) context.skip('only root can mount a small file system');
    const pod = await Pod.create(binary);
    await mkdir(pod.baseDir);
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m,nr_inodes=300', 'tmpfs', pod.baseDir], {
        stdio: 'pipe',
      });
    } catch (error) {
      context.skip(`cannot mount a small file system: ${(error as Error).message}`);
    }
    onCleanup(() => void execFileSync('umount', ['-l', pod.baseDir]));
    const faulty = await FaultyPod.start(pod, binary, worldOf(1, await textsForFaults()));
    await disturb(faulty, {
      does: 'fill-disk',
      rows: [
        ['operations', 'collecting:1'],
        ['operations', 'entered:1'],
        ['operations', 'staging:1'],
        ['a reload', 'staged-file:2'],
        ['a reload', 'committed:1'],
        ['a reload', 'reloaded:1'],
        ['operations', 'operated:1'],
        ['a refused reload after operations', 'staged:1'],
        ['a refused reload', 'committed:1'],
        ['a refused reload after operations', 'operated:1'],
        ['a way back', 'entered:1'],
      ],
      mend: () => rm(join(pod.baseDir, dirname(FILLER)), { recursive: true, force: true }),
    });
  });
});

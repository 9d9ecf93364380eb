import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'vitest';
import { seeded } from '../haproxy/seeded.ts';
import { traffic } from '../haproxy/traffic.ts';
import { forEachVersion } from '../haproxy/versions.ts';
import { textsForFaults } from './fault-points.ts';
import { scenarios, worldOf } from './fault-scenarios.ts';
import { FaultyPod } from './faulty-pod.ts';
import { Pod } from './pod.ts';

const isSoak = process.env['HAPTIC_SOAK'] === '1';
/** On each version. */
const kills = Number(process.env['HAPTIC_KILLS'] ?? (isSoak ? 2_000 : 17));
const seed = Number(process.env['HAPTIC_SEED'] ?? randomInt(0x7fff_ffff));
/** Pods side by side. */
const lanes = isSoak ? 3 : 1;
/** A look at everything that the worker holds costs as much as ten kills. */
const lookEvery = isSoak ? 10 : 3;

/** Kills the agent at any time of an apply, and now and then its successor while it recovers. */
async function killAtRandom(binary: string, count: number, random: () => number): Promise<void> {
  const texts = await textsForFaults();
  // One that waits for its turn would make the others wait, too.
  const rows = scenarios(texts).filter(({ options }) => Object.keys(options).length === 0);
  const faulty = await FaultyPod.start(await Pod.create(binary), binary, worldOf(1, texts));
  const longest = new Map<string, number>();
  const killOnce = async (index: number): Promise<void> => {
    const scenario = rows[Math.floor(random() * rows.length)]!;
    const attempt = await faulty.prepare(scenario);
    const agent = await faulty.agent(scenario.options);
    const after = random() * (longest.get(scenario.name) ?? 200) * 1.2;
    const words = `seed ${seed}, kill ${index}: ${scenario.name} after ${after.toFixed(1)} ms`;
    const load = traffic({ port: faulty.pod.port, path: '/fixed', clients: 1, pauseMs: 5 });
    const startedAt = performance.now();
    const answered = faulty.send(attempt).then((reply) => reply !== undefined && performance.now());
    await sleep(after);
    await agent.kill('SIGKILL');
    const answeredAt = await answered;
    if (answeredAt !== false) longest.set(scenario.name, answeredAt - startedAt);
    await faulty.expectWhole(attempt, words);
    if (random() < 0.2) {
      const successor = faulty.pod.spawnAgent();
      await sleep(random() * 500);
      await successor.kill('SIGKILL');
      await faulty.expectWhole(attempt, words);
    }
    await faulty.agent(scenario.options);
    await faulty.expectWhole(attempt, words);
    await faulty.expectRepeatable(attempt, scenario, words, { look: index % lookEvery === 0 });
    faulty.expectServed(await load.stop(), words);
  };
  for (let index = 0; index < count; index += 1) await faulty.explain(() => killOnce(index));
}

forEachVersion(({ binary, minor }) => {
  const perLane = Math.ceil(kills / lanes);
  test(
    `an agent that is killed at ${perLane * lanes} random times loses nothing (seed ${seed})`,
    { timeout: 60_000 + perLane * lanes * 10_000 },
    async () => {
      const own = seed + Number(minor.split('.')[1]);
      await Promise.all(
        Array.from({ length: lanes }, (_, lane) => killAtRandom(binary, perLane, seeded(own + lane * 1_000))),
      );
    },
  );
});

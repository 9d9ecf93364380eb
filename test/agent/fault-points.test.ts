import { expect, test } from 'vitest';
import { STEPS } from '../../agent/src/steps.ts';
import { traffic } from '../haproxy/traffic.ts';
import { forEachVersion } from '../haproxy/versions.ts';
import { pointsOf, stepOf, textsForFaults, type Point } from './fault-points.ts';
import { scenarios, worldOf } from './fault-scenarios.ts';
import { FaultyPod } from './faulty-pod.ts';
import { Pod } from './pod.ts';

const isSoak = process.env['HAPTIC_SOAK'] === '1';

/** One for each step, of another scenario and occasion by `turn`; in the long run all. */
function chosen(points: readonly Point[], turn: number): readonly Point[] {
  if (isSoak) return points;
  return STEPS.flatMap((step) => {
    const candidates = points.filter((point) => stepOf(point) === step);
    return candidates[(turn * 7) % candidates.length] ?? [];
  });
}

/** False when the agent did not come there. */
async function killAt(faulty: FaultyPod, { scenario, at }: Point): Promise<boolean> {
  const words = `${scenario.name}, killed at ${at}`;
  const attempt = await faulty.prepare(scenario);
  const load = traffic({ port: faulty.pod.port, path: '/fixed', clients: 1, pauseMs: 5 });
  await faulty.pod.order('kill-agent', at);
  const agent = await faulty.agent(scenario.options);
  const reply = await faulty.send(attempt);
  // What comes after the answer is a reload that was put off.
  const isKilled = await Promise.race([
    agent.ended.then(() => true),
    faulty.expectSettled(attempt, words, { look: false }).then(
      () => false,
      () => true,
    ),
  ]);
  await faulty.pod.orderNothing();
  if (!isKilled) {
    await faulty.expectTold(attempt, reply, words);
    return false;
  }
  expect(await agent.ended, words).toBe('SIGKILL');
  await faulty.expectWhole(attempt, words);
  await faulty.agent(scenario.options);
  expect((await faulty.pod.trees()).filter((name) => name.endsWith('.new'))).toEqual([]);
  await faulty.expectWhole(attempt, words);
  await faulty.expectSettled(attempt, words);
  await faulty.expectRepeatable(attempt, scenario, words);
  faulty.expectServed(await load.stop(), words);
  return true;
}

forEachVersion(({ binary, minor }) => {
  test(
    'an agent that is killed at any moment of an apply loses nothing',
    { timeout: isSoak ? 3_600_000 : 600_000 },
    async () => {
      const texts = await textsForFaults();
      const faulty = await FaultyPod.start(await Pod.create(binary), binary, worldOf(1, texts));
      const points = await pointsOf(faulty, scenarios(texts));
      // A moment that no scenario comes to is one that nobody has tried: add a scenario for it.
      expect(new Set(points.map(stepOf))).toEqual(new Set<string>(STEPS));
      const tried = chosen(points, Number(minor.split('.')[1]));
      const missed: string[] = [];
      for (const point of tried) {
        let isKilled = false;
        for (let tries = 3; tries > 0 && !isKilled; tries -= 1)
          isKilled = await faulty.explain(() => killAt(faulty, point));
        if (!isKilled) missed.push(`${point.scenario.name} comes to ${point.at}`);
      }
      // How often a step comes hangs on what was there before, and on the time: of a reload that waits for its turn, of files that differ.
      expect(missed.filter((words) => words.endsWith(':1'))).toEqual([]);
      expect(missed.length, missed.join(', ')).toBeLessThanOrEqual(tried.length / 10);
    },
  );
});

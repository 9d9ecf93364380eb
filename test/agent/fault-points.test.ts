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

forEachVersion(({ binary, minor }) => {
  test(
    'an agent that is killed at any moment of an apply loses nothing',
    { timeout: isSoak ? 3_600_000 : 240_000 },
    async () => {
      const texts = await textsForFaults();
      const faulty = await FaultyPod.start(await Pod.create(binary), binary, worldOf(1, texts));
      const points = await pointsOf(faulty, scenarios(texts));
      // A moment that no scenario comes to is one that nobody has tried: add a scenario for it.
      expect(new Set(points.map(stepOf))).toEqual(new Set<string>(STEPS));
      for (const { scenario, at } of chosen(points, Number(minor.split('.')[1]))) {
        const words = `${scenario.name}, killed at ${at}`;
        const attempt = await faulty.prepare(scenario);
        const load = traffic({ port: faulty.pod.port, path: '/fixed', clients: 1, pauseMs: 5 });
        await faulty.pod.order('kill-agent', at);
        const agent = await faulty.agent(scenario.options);
        await faulty.send(attempt);
        expect(await agent.ended, words).toBe('SIGKILL');
        await faulty.pod.orderNothing();
        await faulty.expectWhole(attempt, words);
        await faulty.agent(scenario.options);
        expect((await faulty.pod.trees()).filter((name) => name.endsWith('.new'))).toEqual([]);
        await faulty.expectWhole(attempt, words);
        await faulty.expectSettled(attempt, words);
        await faulty.expectRepeatable(attempt, scenario, words);
        expect(await load.stop(), words).toMatchObject({ failed: 0, failures: [] });
      }
    },
  );
});

import { join } from 'node:path';
import type { RenderPlan } from '@haptic/core/contract';
import { expect, test } from 'vitest';
import { haproxyBinary } from '../../tools/haproxy/index.ts';
import { fleetPod } from '../agent/fleet.ts';
import type { Pod } from '../agent/pod.ts';
import { origin } from '../haproxy/origin.ts';
import { until } from '../haproxy/until.ts';
import { forEachVersion } from '../haproxy/versions.ts';
import { answerOf, gatedHaproxy, ingress, startLeading } from './real-pods.ts';

const LONG = { deadlineMs: 30_000 };

async function runs(pod: Pod, { id }: Pick<RenderPlan, 'id'>): Promise<void> {
  await until(async () => (await pod.state('plan=0')).applied === id, LONG);
}

forEachVersion(
  ({ binary }) => {
    test(
      'a refused plan goes from pods that never loaded it, and the next waits',
      { timeout: 240_000 },
      async () => {
        const app = await origin('app');
        const pods = (await Promise.all([0, 1].map(() => fleetPod(binary)))).map(({ pod }) => pod);
        const [neverLoaded, hasLoaded] = [pods[0]!, pods[1]!];
        // The one that judges is older than those that serve: it does not know what they have applied.
        const gate = await gatedHaproxy(await haproxyBinary('3.0'));
        const agents = pods.map((pod, index) => ({
          name: `pod-${index}`,
          socketPath: pod.apiSocket,
          tokenFile: join(pod.dir, 'token'),
        }));
        const run = await startLeading({
          judge: gate.binary,
          objects: [ingress('good', app.port)],
          deploy: { mode: 'static', pods: agents, waves: { soak: 0 } },
        });
        await until(() => run.status().gate?.state === 'open', LONG);
        const accepted = run.status().plan!;
        for (const pod of pods) await runs(pod, accepted);
        await until(() => run.status().gate?.pending.length === 0, LONG);
        await gate.close();

        run.put(ingress('bad', app.port, { keywords: ['init-state', 'up'] }));
        await until(() => run.status().dispatched !== accepted.id, LONG);
        const bad = { id: run.status().dispatched! };
        for (const pod of pods) await runs(pod, bad);
        expect(run.status()).toMatchObject({
          gate: { state: 'open', pending: [bad.id] },
          plan: { id: accepted.id },
        });
        expect(await answerOf(neverLoaded, 'bad')).toBe('app');
        // It starts again, on the files that are in place.
        process.kill((await hasLoaded.state()).master!.pid, 'SIGTERM');
        await until(async () => (await hasLoaded.state('plan=0')).running === bad.id, LONG);

        await gate.letOne();
        await runs(neverLoaded, accepted);
        expect(run.status()).toMatchObject({
          gate: { state: 'latched', reason: 'refused' },
          dispatched: accepted.id,
          problem: { message: expect.stringMatching(/init-state[^]*Ingress shop\/bad/) },
        });
        expect(await answerOf(neverLoaded, 'good')).toBe('app');
        await until(async () => (await answerOf(neverLoaded, 'bad')) === '503', LONG);
        run.put(ingress('next', app.port));
        expect((await hasLoaded.state('plan=0')).applied).toBe(bad.id);
        expect(await answerOf(hasLoaded, 'bad')).toBe('app');
        expect(await answerOf(neverLoaded, 'next')).toBe('503');

        // One for the render without the culprit, one for what came meanwhile.
        await gate.letOne();
        await until(() => run.status().gate?.state === 'open', LONG);
        expect(run.status().quarantine).toMatchObject([
          { object: { kind: 'Ingress', name: 'bad' }, reason: expect.stringContaining('init-state') },
        ]);
        for (const pod of pods) await until(async () => (await answerOf(pod, 'next')) === 'app', LONG);
        for (const pod of pods) expect(await answerOf(pod, 'bad')).toBe('503');
        await gate.letOne();
        await until(() => run.status().gate?.pending.length === 0, LONG);
      },
    );
  },
  ['3.4'],
);

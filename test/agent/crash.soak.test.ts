import { randomInt } from 'node:crypto';
import { expect, test } from 'vitest';
import { forEachVersion } from '../haproxy/versions.ts';
import { traffic } from '../haproxy/traffic.ts';
import { killedApply, KILL_POINTS, type Applied } from './crash-apply.ts';
import { applyOf } from './plan.ts';
import { Pod } from './pod.ts';

const kills = Number(process.env['HAPTIC_KILLS'] ?? 2_000);

forEachVersion(
  ({ binary }) => {
    test(`${kills} random kills under traffic lose nothing`, { timeout: 3 * 3_600_000 }, async () => {
      const pod = await Pod.create(binary);
      await pod.startHaproxy();
      const agent = await pod.startAgent();
      let last: Applied = { files: { ...pod.site('v0'), 'files/a': 'same' }, seq: 1 };
      await pod.apply(applyOf(last.files));
      await agent.kill('SIGTERM');
      for (let count = 0; count < kills; count += 1) {
        const killAt = KILL_POINTS[randomInt(KILL_POINTS.length)] ?? 'staged';
        const load = traffic({ port: pod.port, clients: 2 });
        last = await killedApply(pod, killAt, last, { ...pod.site(`v${count + 1}`), 'files/a': 'same' });
        expect(await load.stop(), killAt).toMatchObject({ failed: 0, failures: [] });
      }
    });
  },
  ['3.4'],
);

import { expect, test } from 'vitest';
import { forEachVersion } from '../haproxy/versions.ts';
import { killedApply, KILL_POINTS, type Applied } from './crash-apply.ts';
import { applyOf } from './plan.ts';
import { Pod } from './pod.ts';

forEachVersion(({ binary }) => {
  test(
    'killed at any step of an apply, the agent leaves the old set or the new one',
    { timeout: 120_000 },
    async () => {
      const pod = await Pod.create(binary);
      await pod.startHaproxy();
      const agent = await pod.startAgent();
      let last: Applied = { files: { ...pod.site('v0'), 'files/a': 'same' }, seq: 1 };
      expect((await pod.apply(applyOf(last.files))).body.outcome).toBe('reload');
      await agent.kill('SIGTERM');
      for (const [index, killAt] of KILL_POINTS.entries()) {
        last = await killedApply(pod, killAt, last, { ...pod.site(`v${index + 1}`), 'files/a': 'same' });
      }
    },
  );
});

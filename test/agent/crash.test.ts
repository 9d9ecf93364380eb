import { expect, test } from 'vitest';
import { until } from '../haproxy/until.ts';
import { forEachVersion } from '../haproxy/versions.ts';
import { killedApply, KILL_POINTS, type Applied } from './crash-apply.ts';
import { Deployer } from './deployer.ts';
import { applyOf } from './plan.ts';
import { Pod } from './pod.ts';
import { coldDump, workerDump } from './worker-dump.ts';
import type { World } from './world.ts';

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

  test('killed at any step of operations, the agent brings HAProxy in step at the next start', async () => {
    const pod = await Pod.create(binary);
    await pod.startHaproxy();
    const first = await pod.startAgent();
    const deployer = new Deployer(pod);
    const app = { body: 'balance roundrobin\n', servers: { a: { port: 1 } } };
    await deployer.deploy({ backends: { app }, hosts: {} });
    await first.kill('SIGTERM');
    for (const killAt of ['entered', 'staged', 'pointed', 'committed', 'changed', 'answered']) {
      const agent = await pod.startAgent({ 'kill-at': killAt });
      const world: World = {
        backends: { app: { ...app, servers: { [killAt]: { port: 2 } } } },
        hosts: { [`${killAt}.test`]: 'app' },
      };
      const next = deployer.renderer.render(world);
      const message = deployer.message(next, await deployer.plan(next));
      await expect(pod.apply(message)).rejects.toThrow(/hang up|ECONNRESET/);
      expect(await agent.ended).toBe('SIGKILL');

      const restarted = await pod.startAgent();
      const reply = await pod.apply(message);
      expect(reply.status, killAt).toBe(200);
      expect(['runtime', 'scheduled', 'noop', 'reload'], killAt).toContain(reply.body.outcome);
      deployer.note(next, reply);
      await until(async () => {
        const { inStep, pendingDeletes } = await pod.state();
        return inStep && pendingDeletes.length === 0;
      });
      expect(await pod.state('verify=1')).toMatchObject({ applied: next.plan.id, drift: [] });
      expect(await workerDump(pod.workerSocket), killAt).toEqual(await coldDump(pod, binary));
      await restarted.kill('SIGTERM');
    }
  });
});

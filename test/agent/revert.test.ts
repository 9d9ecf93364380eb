import { expect, test } from 'vitest';
import { origin, type Origin } from '../haproxy/origin.ts';
import { request } from '../haproxy/raw-request.ts';
import { until } from '../haproxy/until.ts';
import { forEachVersion } from '../haproxy/versions.ts';
import { fleetPod, startFleet } from './fleet.ts';
import type { Pod } from './pod.ts';
import type { World } from './world.ts';

const world = (target: Origin, more: Readonly<Record<string, string>> = {}): World => ({
  backends: { app: { body: 'balance roundrobin\n', servers: { a: { port: target.port } } } },
  hosts: { 'a.test': 'app', ...more },
});

async function answerOf({ port }: Pod, host = 'a.test'): Promise<string> {
  const { status, body } = await request(port, { host });
  return status === 200 ? (JSON.parse(body.toString()) as { origin: string }).origin : String(status);
}

const LONG = { deadlineMs: 30_000 };

forEachVersion(({ binary }) => {
  test('a plan goes from pods that have it on a judge’s word alone, and their endpoints are the newest', async () => {
    const [one, two] = [await origin('one'), await origin('two')];
    const started = await Promise.all([0, 1].map(() => fleetPod(binary)));
    const pods = started.map(({ pod }) => pod);
    const controller = await startFleet(pods, { waves: { soak: 0 } });
    const good = controller.render(world(one));
    controller.want(good);
    await controller.settled(good.plan);
    const moved = controller.render(world(two));
    controller.want(moved);
    await controller.settled(moved.plan);

    const bad = controller.render(world(two, { 'bad.test': 'app' }));
    controller.want(bad, false);
    await controller.settled(bad.plan);
    // One of them has loaded it by itself since: whoever restarts it starts it on what is in place.
    process.kill((await pods[1]!.state()).master!.pid, 'SIGTERM');
    await until(async () => (await pods[1]!.state('plan=0')).running === bad.plan.id, LONG);
    await until(() => controller.fleet.pods()[1]?.loaded === bad.plan.id, LONG);
    expect(controller.fleet.pods()[0]).toMatchObject({ applied: bad.plan.id, loaded: good.plan.id });

    const accepted = { rendered: moved, cause: { changes: [], since: 0 }, validated: true };
    await controller.deployer.withdraw(bad.plan, accepted, controller.term.signal);
    await controller.settled(moved.plan, [0]);
    expect(await answerOf(pods[0]!)).toBe('two');
    expect(await answerOf(pods[0]!, 'bad.test')).toBe('404');
    expect(await answerOf(pods[1]!, 'bad.test')).toBe('two');
    expect((await pods[1]!.state()).applied).toBe(bad.plan.id);
  });

  test('a pod that was away is reverted when it comes back, and stays so', async () => {
    const one = await origin('one');
    const { pod, agent } = await fleetPod(binary);
    const controller = await startFleet([pod], { waves: { soak: 0 } });
    const good = controller.render(world(one));
    controller.want(good);
    await controller.settled(good.plan);
    const bad = controller.render(world(one, { 'bad.test': 'app' }));
    controller.want(bad, false);
    await controller.settled(bad.plan);

    await agent.kill();
    // There is nothing else to deploy: what the pod gets it gets by the revert.
    await controller.deployer.withdraw(bad.plan, undefined, controller.term.signal);
    expect(controller.log.records.at(-1)).toMatchObject({
      message: 'took a plan back from a pod',
      fields: { pod: 'pod-0', result: 'unreachable' },
    });
    const again = await pod.startAgent();
    await until(async () => {
      const { applied, inStep } = await pod.state('plan=0');
      return applied === good.plan.id && inStep;
    }, LONG);
    expect(await answerOf(pod, 'bad.test')).toBe('404');
    await again.kill();
    await pod.startAgent();
    expect(await pod.state()).toMatchObject({ applied: good.plan.id, lkg: good.plan.id, inStep: true });
    // Nothing is left to be done.
    expect(await controller.fleet.revert(bad.plan.id, AbortSignal.timeout(60_000))).toEqual([]);
  });

  test('a pod that got something newer meanwhile keeps that', async () => {
    const one = await origin('one');
    const { pod } = await fleetPod(binary);
    const controller = await startFleet([pod], { waves: { soak: 0 } });
    const good = controller.render(world(one));
    controller.want(good);
    await controller.settled(good.plan);
    const bad = controller.render(world(one, { 'bad.test': 'app' }));
    const better = controller.render(world(one, { 'better.test': 'app' }));
    controller.want(bad, false);
    await controller.settled(bad.plan);
    controller.want(better, false);
    const outcomes = await controller.fleet.revert(bad.plan.id, AbortSignal.timeout(60_000));
    await controller.settled(better.plan);
    for (const { result } of outcomes) expect(['noop', 'reload']).toContain(result);
    expect(await answerOf(pod, 'better.test')).toBe('one');
    expect(await controller.fleet.revert(bad.plan.id, AbortSignal.timeout(60_000))).toEqual([]);
  });

  test('a late pass makes the plan the last known good, and none is lost', async () => {
    const one = await origin('one');
    const { pod } = await fleetPod(binary);
    const controller = await startFleet([pod], { waves: { soak: 0 } });
    const first = controller.render(world(one));
    controller.want(first);
    await controller.settled(first.plan);
    let last = first;
    for (let count = 0; count < 5; count += 1) {
      last = controller.render(world(one, { [`host-${count}.test`]: 'app' }));
      controller.want(last, false);
      await controller.settled(last.plan);
      controller.deployer.confirm(last.plan);
    }
    await until(async () => (await pod.state('plan=0')).lkg === last.plan.id, LONG);
    expect((await pod.state()).running).toBe(first.plan.id);
  });
});

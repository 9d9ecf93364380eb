import { expect, test } from 'vitest';
import { origin, type Origin } from '../haproxy/origin.ts';
import { request } from '../haproxy/raw-request.ts';
import { until } from '../haproxy/until.ts';
import { forEachVersion } from '../haproxy/versions.ts';
import { fleetPod, startFleet, type TestFleet, type Told } from './fleet.ts';
import type { Pod } from './pod.ts';
import type { World, WorldBackend } from './world.ts';

const WEB = 'balance roundrobin\n';

const app = ({ port }: Origin, body = WEB): WorldBackend => ({ body, servers: { a: { port } } });

/** When a pod was busy with a plan, by the monotonic clock. */
const span = ({ endedAt, durationMs }: Told): { from: number; to: number } => ({
  from: endedAt - durationMs,
  to: endedAt,
});

async function answerOf({ port }: Pod, host = 'a.test'): Promise<string> {
  const { status, body } = await request(port, { host });
  return status === 200 ? (JSON.parse(body.toString()) as { origin: string }).origin : String(status);
}

async function answers(pods: readonly Pod[], host?: string): Promise<string[]> {
  return await Promise.all(pods.map((pod) => answerOf(pod, host)));
}

forEachVersion(
  ({ binary }) => {
    async function three(options: object = {}): Promise<TestFleet> {
      const started = await Promise.all([0, 1, 2].map(() => fleetPod(binary)));
      return await startFleet(
        started.map(({ pod }) => pod),
        options,
      );
    }

    test('a reload goes to one pod and then to one after the other; what is known goes to all', async () => {
      const [one, two] = [await origin('one'), await origin('two')];
      const controller = await three({ waves: { soak: 300 } });
      const { told, pods, of } = controller;
      const first: World = { backends: { app: app(one) }, hosts: { 'a.test': 'app' } };
      const rendered = controller.render(first);
      controller.want(rendered);
      await controller.settled(rendered.plan);
      expect(await answers(pods)).toEqual(['one', 'one', 'one']);
      await until(() => told.filter(({ result }) => result === 'reload').length === 3);
      const reloads = told.filter(({ result }) => result === 'reload').map(span);
      for (const [index, { from }] of reloads.entries())
        if (index > 0) expect(from).toBeGreaterThanOrEqual(reloads[index - 1]!.to);
      // The first one was watched.
      expect(reloads[1]!.from - reloads[0]!.to).toBeGreaterThanOrEqual(300);
      expect(of(rendered.plan)['pod-1']?.[0]).toBe('held wave_waits:pod-0');
      expect(of(rendered.plan)['pod-2']?.[0]).toBe('held wave_waits:pod-0');

      const route = (name: string): World => ({
        backends: { app: app(one), [name]: app(two) },
        hosts: { 'a.test': 'app', 'b.test': name },
      });
      const novel = controller.render(route('new'));
      controller.want(novel);
      await controller.settled(novel.plan);
      await until(() => of(novel.plan)['pod-2']?.includes('runtime'));
      expect(of(novel.plan)['pod-0']).toEqual(['runtime']);
      expect(of(novel.plan)['pod-2']).toEqual(['held wave_waits:pod-0', 'runtime']);
      const known = controller.render({
        ...route('new'),
        backends: { ...route('new').backends, more: app(two) },
        hosts: { 'a.test': 'app', 'b.test': 'new', 'c.test': 'more' },
      });
      controller.want(known);
      await controller.settled(known.plan);
      await until(() => Object.keys(of(known.plan)).length === 3);
      expect(of(known.plan)).toEqual({ 'pod-0': ['runtime'], 'pod-1': ['runtime'], 'pod-2': ['runtime'] });
      expect(await answers(pods, 'c.test')).toEqual(['two', 'two', 'two']);
    });

    test('what one pod refuses reaches no other; endpoints reach all of them', async () => {
      const [one, two] = [await origin('one'), await origin('two')];
      const controller = await three({ waves: { soak: 100 } });
      const { pods, of } = controller;
      const world: World = { backends: { app: app(one) }, hosts: { 'a.test': 'app' } };
      const good = controller.render(world);
      controller.want(good);
      await controller.settled(good.plan);
      const tokens = async () =>
        (await Promise.all(pods.map((pod) => pod.state()))).map(({ token }) => token);
      const before = await tokens();

      const bad = controller.render({ ...world, extra: 'bogus' });
      controller.want(bad);
      await until(() => of(bad.plan)['pod-2']?.at(-1) === 'held wave_halted:pod-0');
      await until(() => of(bad.plan)['pod-1']?.at(-1) === 'held wave_halted:pod-0');
      expect(of(bad.plan)['pod-0']?.[0]).toBe('rejected');
      expect((await tokens()).slice(1)).toEqual(before.slice(1));

      const moved = controller.render({ ...world, extra: 'bogus', backends: { app: app(two) } });
      controller.want(moved);
      await until(async () => (await answers(pods)).join() === 'two,two,two', { deadlineMs: 30_000 });
      await until(() => of(moved.plan)['pod-0']?.includes('rejected'), { deadlineMs: 30_000 });
      const again = controller.render({ ...world, extra: 'bogus', backends: { app: app(one) } });
      controller.want(again);
      await until(async () => (await answers(pods)).join() === 'one,one,one', { deadlineMs: 30_000 });

      const mended = controller.render({ ...world, backends: { app: app(two) } });
      controller.want(mended);
      await controller.settled(mended.plan);
      expect(await answers(pods)).toEqual(['two', 'two', 'two']);
    });

    test('a first pod that is not well holds the others until there is something better', async () => {
      const [one, two] = [await origin('one'), await origin('two')];
      const controller = await three({ waves: { soak: 3_000 } });
      const { pods, of, log } = controller;
      const bad = controller.render({ backends: { app: app(one) }, hosts: { 'a.test': 'app' } });
      controller.want(bad);
      await until(() => of(bad.plan)['pod-0']?.includes('reload'), { deadlineMs: 30_000 });
      process.kill((await pods[0]!.state()).worker!.pid, 'SIGKILL');
      for (const pod of ['pod-1', 'pod-2'])
        await until(() => of(bad.plan)[pod]?.at(-1) === 'held wave_halted:pod-0', { deadlineMs: 30_000 });
      expect(log.records.find(({ message }) => message === 'a wave was halted')?.fields['reason']).toMatch(
        /^HAProxy (does not answer any more|\d+ is gone, \d+ runs instead)$/,
      );
      expect((await pods[1]!.state()).token).toBeNull();

      const better = controller.render({
        backends: { app: app(two, 'balance leastconn\n') },
        hosts: { 'a.test': 'app' },
      });
      controller.want(better);
      await controller.settled(better.plan);
      expect(of(better.plan)['pod-0']).toContain('reload');
      expect(await answers(pods)).toEqual(['two', 'two', 'two']);
    });

    test('a first pod that does not answer makes room, and gets it later', async () => {
      const one = await origin('one');
      const started = await Promise.all([0, 1, 2].map(() => fleetPod(binary)));
      const controller = await startFleet(
        started.map(({ pod }) => pod),
        { waves: { soak: 100 } },
      );
      await started[0]!.agent.kill();
      const rendered = controller.render({ backends: { app: app(one) }, hosts: { 'a.test': 'app' } });
      controller.want(rendered);
      await controller.settled(rendered.plan, [1, 2]);
      expect(controller.of(rendered.plan)['pod-1']).toContain('reload');
      await started[0]!.pod.startAgent();
      await controller.settled(rendered.plan);
      expect(await answers(controller.pods)).toEqual(['one', 'one', 'one']);
    });
  },
  ['3.4'],
);

forEachVersion(({ binary }) => {
  test('an agent tells what its worker has counted, when asked', async () => {
    const one = await origin('one');
    const { pod } = await fleetPod(binary);
    const controller = await startFleet([pod]);
    const dead: World = {
      backends: { app: app(one), gone: { body: WEB, servers: {} } },
      hosts: { 'a.test': 'app', 'gone.test': 'gone' },
    };
    const rendered = controller.render(dead);
    controller.want(rendered);
    await controller.settled(rendered.plan);
    expect([await answerOf(pod), await answerOf(pod, 'gone.test')]).toEqual(['one', '503']);
    const { worker, health } = await pod.state('health=1&plan=0');
    expect(health).toEqual({ pid: worker!.pid, requests: 2, serverErrors: 1 });
    expect((await pod.state('plan=0')).health).toBeUndefined();
  });
});

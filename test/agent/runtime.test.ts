import { expect, test } from 'vitest';
import { origin } from '../haproxy/origin.ts';
import { request } from '../haproxy/raw-request.ts';
import { until } from '../haproxy/until.ts';
import { forEachVersion } from '../haproxy/versions.ts';
import { Deployer, sparesFor } from './deployer.ts';
import { Pod } from './pod.ts';
import { coldDump, workerDump } from './worker-dump.ts';
import type { World } from './world.ts';

forEachVersion(({ binary, minor }) => {
  const has = (since: string): boolean => Number(minor) >= Number(since);

  async function running(options: Record<string, string> = {}): Promise<{ pod: Pod; deployer: Deployer }> {
    const pod = await Pod.create(binary);
    await pod.startHaproxy();
    await pod.startAgent(options);
    return { pod, deployer: new Deployer(pod) };
  }

  test('changes the worker by operations, and leaves what a cold start would give', async () => {
    const { pod, deployer } = await running({ 'longest-response': '0' });
    const [one, two] = [await origin('one'), await origin('two')];
    const servers = { a: { port: one.port, keywords: ['check', 'inter', '1s'] } };
    const first: World = {
      backends: { app: { body: 'balance roundrobin\n', servers } },
      hosts: { 'a.test': 'app' },
      leaves: { app: 'x', old: 'y' },
      rules: [['^/r1', 'app']],
    };
    expect((await deployer.deploy(first)).reply.body).toMatchObject({ outcome: 'reload' });
    const { worker } = await pod.state();
    const steps: World[] = [
      // Endpoints.
      {
        ...first,
        backends: { app: { ...first.backends['app']!, servers: { ...servers, b: { port: two.port } } } },
      },
      {
        ...first,
        backends: {
          app: {
            ...first.backends['app']!,
            servers: { a: { ...servers.a, weight: 7 }, b: { port: one.port, state: 'maint' } },
          },
        },
      },
      {
        ...first,
        backends: { app: { ...first.backends['app']!, servers: { b: { port: two.port, weight: 3 } } } },
      },
      // Map entries, hostile values too.
      { ...first, hosts: { 'a.test': 'app', 'b.test': 'app' }, leaves: { app: 'x;show info \\ <<"z" #' } },
      {
        ...first,
        hosts: { 'b.test': 'app' },
        rules: [
          ['^/r2', 'app'],
          ['^/r1', 'nowhere'],
        ],
      },
      first,
    ];
    for (const step of steps) {
      const { plan, reply } = await deployer.deploy(step);
      expect([plan.mode, reply.body.outcome, reply.body.message]).toEqual(['runtime', 'runtime', undefined]);
      await until(async () => (await pod.state()).pendingDeletes.length === 0);
      expect(await workerDump(pod)).toEqual(await coldDump(pod, binary));
    }
    expect((await request(pod.port, { host: 'a.test' })).status).toBe(200);
    const state = await pod.state();
    expect(state.worker).toEqual(worker);
    expect(state).toMatchObject({ inStep: true, applied: deployer.applied?.plan.id });

    const added: World = {
      ...first,
      backends: {
        ...first.backends,
        more: { body: 'balance roundrobin\n', servers: { m: { port: two.port } } },
      },
      hosts: { ...first.hosts, 'more.test': 'more' },
    };
    for (const step of [added, first]) {
      const { reply } = await deployer.deploy(step);
      expect(reply.body.outcome).toBe(has('3.4') ? 'runtime' : 'reload');
      expect((await request(pod.port, { host: 'more.test' })).status).toBe(step === added ? 200 : 404);
      await until(async () => (await pod.state()).pendingDeletes.length === 0);
      expect(await workerDump(pod)).toEqual(await coldDump(pod, binary));
    }
  });

  test('where backends cannot be added, a spare one serves instead, without a reload', async (context) => {
    if (has('3.4')) context.skip('adds backends');
    const pod = await Pod.create(binary);
    await pod.startHaproxy();
    await pod.startAgent({ 'longest-response': '0' });
    const deployer = new Deployer(pod, { spareBackends: sparesFor(minor) });
    const { port } = await origin('one');
    const app = { body: 'balance roundrobin\n', servers: { a: { port } } };
    const first: World = { backends: { app }, hosts: { 'a.test': 'app' } };
    expect((await deployer.deploy(first)).reply.body.outcome).toBe('reload');
    const more: World = { backends: { app, more: app }, hosts: { 'a.test': 'app', 'more.test': 'more' } };
    for (const [step, status] of [
      [more, 200],
      [first, 404],
    ] as const) {
      expect((await deployer.deploy(step)).reply.body).toMatchObject({ outcome: 'runtime', fellBack: false });
      expect((await request(pod.port, { host: 'more.test' })).status).toBe(status);
      await until(async () => (await pod.state()).pendingDeletes.length === 0);
      expect(await workerDump(pod)).toEqual(await coldDump(pod, binary));
    }
  });
});

import { appendFile, readFile, rm, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { noProcesses } from '../haproxy/processes.ts';
import { origin } from '../haproxy/origin.ts';
import { request } from '../haproxy/raw-request.ts';
import { runtimeCommand } from '../haproxy/runtime-command.ts';
import { traffic, type TrafficReport } from '../haproxy/traffic.ts';
import { until } from '../haproxy/until.ts';
import { forEachVersion } from '../haproxy/versions.ts';
import { Deployer } from './deployer.ts';
import { applyOf, planIdOf } from './plan.ts';
import { Pod } from './pod.ts';

async function masterPid(pod: Pod): Promise<number> {
  const { master } = JSON.parse(await readFile(join(pod.socketDir, 'haproxy.json'), 'utf8')) as {
    master: number;
  };
  return master;
}

async function workerPid(pod: Pod): Promise<number> {
  return Number(/^Pid: (\d+)$/m.exec(await runtimeCommand(pod.workerSocket, 'show info'))?.[1]);
}

/** Kills, and measures for how long requests failed. */
async function outage(
  pod: Pod,
  kill: () => Promise<void> | void,
): Promise<{ ms: number; report: TrafficReport }> {
  const load = traffic({ port: pod.port, clients: 2, pauseMs: 5 });
  await until(() => load.report().requests > 5);
  const startedAt = performance.now();
  await kill();
  let failed = -1;
  await until(
    async () => {
      const before = load.report().failed;
      await until(() => load.report().requests > 0 && performance.now() - startedAt > 300);
      const answered = (await request(pod.port)).status === 200;
      failed = load.report().failed;
      return answered && before === failed;
    },
    { deadlineMs: 10_000, what: 'requests succeed again' },
  );
  const ms = performance.now() - startedAt;
  return { ms, report: await load.stop() };
}

forEachVersion(({ binary }) => {
  test('a killed worker or master is back within two seconds, on what was applied', async () => {
    const pod = await Pod.create(binary);
    await pod.startHaproxy();
    await pod.startAgent();
    const files = pod.site('kept');
    await pod.apply(applyOf(files));

    const worker = await outage(pod, async () => void process.kill(await workerPid(pod), 'SIGKILL'));
    expect(worker.ms).toBeLessThan(2_000);
    await until(async () => (await pod.state()).inStep, { what: 'the agent knows the new worker' });

    const master = await outage(pod, async () => void process.kill(await masterPid(pod), 'SIGKILL'));
    expect(master.ms).toBeLessThan(2_000);
    const state = await until(async () => {
      const now = await pod.state();
      return now.inStep && now;
    });
    expect(state).toMatchObject({ applied: planIdOf(files), running: planIdOf(files) });
    expect((await request(pod.port)).body.toString()).toBe('kept one');
  });

  test('a killed supervisor or agent costs no request, and its successor goes on', async () => {
    const pod = await Pod.create(binary);
    const supervisor = await pod.startHaproxy();
    const agent = await pod.startAgent();
    const files = pod.site('kept');
    await pod.apply(applyOf(files));
    const master = await masterPid(pod);
    const load = traffic({ port: pod.port, clients: 2 });

    await supervisor.kill('SIGKILL');
    await agent.kill('SIGKILL');
    const next = await pod.startHaproxy();
    await pod.startAgent();
    expect(await masterPid(pod)).toBe(master);
    expect(await pod.state()).toMatchObject({ applied: planIdOf(files), inStep: true });
    const again = pod.site('again');
    const { body } = await pod.apply(
      applyOf(again, { token: { epoch: 1, seq: 2 }, expect: planIdOf(files) }),
    );
    expect(body).toMatchObject({ outcome: 'reload' });
    expect(await load.stop()).toMatchObject({ failed: 0, failures: [] });

    // An adopted HAProxy is looked after like an own one.
    process.kill(master, 'SIGKILL');
    await until(async () => (await request(pod.port)).body.toString() === 'again one');
    await next.kill('SIGTERM');
    await until(
      async () =>
        !(await request(pod.port).then(
          () => true,
          () => false,
        )),
    );
  });

  test('when the parent is gone nothing stays, also an old worker', async () => {
    const pod = await Pod.create(binary);
    const supervisor = await pod.startHaproxy({ 'exit-with-parent': true, drain: '30000' });
    const agent = await pod.startAgent({ 'exit-with-parent': true });
    await pod.apply(applyOf(pod.site('kept')));
    supervisor.child.stdin?.destroy();
    agent.child.stdin?.destroy();
    await noProcesses(pod.dir, 2_000);
    expect([await supervisor.ended, await agent.ended]).toEqual([0, 0]);
  });

  test('an HAProxy of another run is ended before the next one starts', async () => {
    const pod = await Pod.create(binary);
    const supervisor = await pod.startHaproxy();
    await pod.startAgent();
    await pod.apply(applyOf(pod.site('kept')));
    const left = await masterPid(pod);
    await supervisor.kill('SIGKILL');
    // Without the record only the master's socket tells.
    await rm(join(pod.socketDir, 'haproxy.json'));
    await pod.startHaproxy();
    expect(await masterPid(pod)).not.toBe(left);
    expect((await request(pod.port)).body.toString()).toBe('kept one');
    await until(async () => (await readFile(`/proc/${left}/cmdline`, 'utf8').catch(() => '')) === '');
  });

  test('lets requests end when it is stopped, and takes no more', async () => {
    const pod = await Pod.create(binary);
    const supervisor = await pod.startHaproxy({ drain: '30000' });
    await pod.startAgent();
    const held = Promise.withResolvers<void>();
    const slow = await origin('slow', { before: () => held.promise });
    const app = { body: 'balance roundrobin\n', servers: { a: { port: slow.port } } };
    await new Deployer(pod).deploy({ backends: { app }, hosts: { 'a.test': 'app' } });
    const call = request(pod.port, { host: 'a.test' });
    await until(() => slow.seen.length > 0);
    supervisor.child.kill('SIGTERM');
    await until(async () => {
      const answer = await request(pod.port, { path: '/fixed' }).catch(
        (error: NodeJS.ErrnoException) => error.code,
      );
      return answer === 'ECONNREFUSED';
    });
    expect(supervisor.child.exitCode).toBe(null);
    held.resolve();
    expect((await call).status).toBe(200);
    expect(await supervisor.ended).toBe(0);
  });

  test('looks at no other files where what is applied loads', async () => {
    const pod = await Pod.create(binary);
    const supervisor = await pod.startHaproxy();
    await pod.startAgent();
    const good = pod.site('good');
    await pod.apply(applyOf(good));
    const next = { token: { epoch: 1, seq: 2 }, expect: planIdOf(good), mode: 'auto' };
    await pod.apply(applyOf(pod.site('next'), next));
    await supervisor.kill('SIGTERM');
    await appendFile(join(pod.baseDir, 'lkg', 'haproxy.cfg'), 'nonsense\n');
    const started = await pod.startHaproxy();
    expect((await request(pod.port)).body.toString()).toBe('next one');
    expect(started.output()).not.toContain('does not load');
  });

  test('falls back to the last known good, then to the bootstrap configuration', async () => {
    const pod = await Pod.create(binary);
    const supervisor = await pod.startHaproxy();
    await pod.startAgent();
    const good = pod.site('good');
    await pod.apply(applyOf(good));
    await supervisor.kill('SIGTERM');
    // Put in place and never loaded: file_only is the way to such a tree.
    const bad = pod.site('bad', { extra: 'bogus' });
    const { body } = await pod.apply(
      applyOf(bad, { token: { epoch: 1, seq: 2 }, expect: planIdOf(good), mode: 'auto' }),
    );
    expect(body.outcome).toBe('file_only');

    const next = await pod.startHaproxy();
    expect((await request(pod.port)).body.toString()).toBe('good one');
    expect(next.output()).toContain("unknown keyword 'bogus'");
    expect(await pod.state()).toMatchObject({ applied: planIdOf(good), lkg: planIdOf(good), inStep: true });
    await next.kill('SIGTERM');

    const config = join(pod.baseDir, 'lkg', 'haproxy.cfg');
    await truncate(config);
    await appendFile(config, 'nonsense\n');
    await pod.startHaproxy();
    expect(await pod.state()).toMatchObject({ applied: null, inStep: true });
    expect(await runtimeCommand(pod.workerSocket, 'show env HAPTIC_TEXT')).toContain('bootstrap');
    const { body: whole } = await pod.apply(applyOf(pod.site('whole'), { token: { epoch: 1, seq: 3 } }));
    expect(whole).toMatchObject({ outcome: 'reload' });
    expect((await request(pod.port)).body.toString()).toBe('whole one');
  });
});

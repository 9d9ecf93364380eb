import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { onCleanup } from '../haproxy/cleanup.ts';
import { runtimeCommand } from '../haproxy/runtime-command.ts';
import { until } from '../haproxy/until.ts';
import { forEachVersion, versionsOfOwnLogic } from '../haproxy/versions.ts';
import { textsForFaults } from './fault-points.ts';
import { worldOf } from './fault-scenarios.ts';
import { fleetPod, startFleet, type TestFleet } from './fleet.ts';
import { Pod } from './pod.ts';
import { renderedOf } from './rendered.ts';

/** A controller of one pod that often looks whether it has drifted; `looked` resolves when it has done so a few times more. */
async function watchful(
  pod: Pod,
): Promise<{ readonly fleet: TestFleet; readonly looked: () => Promise<void> }> {
  let looks = 0;
  const socketPath = join(pod.dir, 'seen.sock');
  const server = createServer((caller) => {
    const agent = connect(pod.apiSocket);
    caller.on('data', (bytes) => (looks += bytes.includes('verify=1') ? 1 : 0));
    caller.pipe(agent).pipe(caller);
    for (const socket of [caller, agent]) socket.on('error', () => agent.destroy());
  });
  server.listen(socketPath);
  await once(server, 'listening');
  onCleanup(() => void server.close());
  const pods = [{ name: 'pod-0', socketPath, tokenFile: join(pod.dir, 'token') }];
  const fleet = await startFleet([pod], { pods, driftInterval: 100, poll: 100 });
  const looked = async (): Promise<void> => {
    const before = looks;
    await until(() => looks >= before + 4, { what: 'more looks' });
  };
  return { fleet, looked };
}

const changes: readonly string[] = [
  'del map maps/hosts.map a.test',
  'add server app/other 127.0.0.1:9',
  'new ssl cert certs/other.pem',
];

forEachVersion(({ binary }) => {
  test('a worker that somebody changed is mended by one reload', { timeout: 120_000 }, async () => {
    const { pod } = await fleetPod(binary);
    const { fleet, looked } = await watchful(pod);
    const rendered = fleet.render(worldOf(1, await textsForFaults()));
    fleet.want(rendered);
    await fleet.settled(rendered.plan);
    const files = await pod.tree();
    let reloads = 1;
    for (const command of changes) {
      await runtimeCommand(pod.workerSocket, command);
      reloads += 1;
      const seen = (): readonly string[] => fleet.of(rendered.plan)['pod-0'] ?? [];
      await until(() => seen().length >= reloads, { what: `${command} is seen` });
      await looked();
      expect(seen(), command).toEqual(Array.from({ length: reloads }, () => 'reload'));
      expect(await pod.state('verify=1'), command).toMatchObject({ inStep: true, drift: [] });
    }
    expect(await pod.state()).toMatchObject({ generation: reloads, applied: rendered.plan.id });
    expect(await pod.tree()).toEqual(files);
  });

  test('what a reload does not mend costs one, and what comes later is mended', async () => {
    const pod = await Pod.create(binary);
    await pod.startHaproxy();
    await pod.startAgent();
    const { fleet, looked } = await watchful(pod);
    const site = pod.site('one');
    // A section that only HAProxy sees as one, since it is indented.
    const tail = 'backend b\n    ring r\n    size 32768\n    server s 127.0.0.1:1\n';
    const odd = renderedOf({ ...site, 'haproxy.cfg': `${site['haproxy.cfg']}${tail}` });
    fleet.want(odd);
    const reloads = (): number => fleet.of(odd.plan)['pod-0']?.length ?? 0;
    await until(() => reloads() >= 2, { what: 'the odd section is seen' });
    await looked();
    expect(reloads()).toBe(2);
    await runtimeCommand(pod.workerSocket, 'add map maps/site.map else where');
    await until(() => reloads() >= 3, { what: 'another entry is seen' });
    await looked();
    expect(fleet.of(odd.plan)).toEqual({ 'pod-0': ['reload', 'reload', 'reload'] });
    expect(await pod.state()).toMatchObject({ inStep: true, generation: 3 });
  });
}, versionsOfOwnLogic);

import { expect, test } from 'vitest';
import { runtimeCommand } from '../haproxy/runtime-command.ts';
import { forEachVersion } from '../haproxy/versions.ts';
import { Deployer } from './deployer.ts';
import { textsForFaults } from './fault-points.ts';
import { worldOf } from './fault-scenarios.ts';
import { applyOf, planIdOf } from './plan.ts';
import { Pod } from './pod.ts';

/** What somebody does to the running worker, and what is told of it. */
const changes: readonly (readonly [command: string, told: string])[] = [
  ['del map maps/hosts.map a.test', 'worker: maps/hosts.map has 1 entries, expected 2'],
  ['add map maps/hosts.map else.test app', 'worker: maps/hosts.map has 3 entries, expected 2'],
  ['add server app/other 127.0.0.1:9', 'worker: server app/other should not be there'],
  [
    'disable server app/s1; wait 5s srv-removable app/s1; del server app/s1',
    'worker: server app/s1 is missing',
  ],
  ['new ssl cert certs/other.pem', 'worker: certs/other.pem should not be there'],
];

forEachVersion(({ binary }) => {
  test('a worker that somebody changed is seen, and a reload mends it', { timeout: 120_000 }, async () => {
    const pod = await Pod.create(binary);
    await pod.startHaproxy();
    await pod.startAgent();
    const deployer = new Deployer(pod);
    const world = worldOf(1, await textsForFaults());
    await deployer.deploy(world);
    expect(await pod.state('verify=1')).toMatchObject({ inStep: true, drift: [] });
    for (const [index, [command, told]] of changes.entries()) {
      await runtimeCommand(pod.workerSocket, command);
      const { drift, inStep } = await pod.state('verify=1');
      expect({ drift, inStep }, command).toEqual({ drift: [told], inStep: true });
      const extra = `http-response set-header x-turn ${index}`;
      expect((await deployer.deploy({ ...world, extra })).reply.body.outcome).toBe('reload');
      expect(await pod.state('verify=1'), command).toMatchObject({ drift: [] });
    }
  });

  test('what a reload does not mend is not told again', async () => {
    const pod = await Pod.create(binary);
    await pod.startHaproxy();
    await pod.startAgent();
    const files = pod.site('one');
    // A section that only HAProxy sees as one, since it is indented.
    const tail = 'backend b\n    ring r\n    size 32768\n    server s 127.0.0.1:1\n';
    const odd = { ...files, 'haproxy.cfg': `${files['haproxy.cfg']}${tail}` };
    await pod.apply(applyOf(odd));
    expect(await pod.state('verify=1')).toMatchObject({ drift: ['worker: server b/s is missing'] });
    const again = applyOf(odd, { token: { epoch: 1, seq: 2 }, expect: planIdOf(odd) });
    expect((await pod.apply(again)).body.outcome).toBe('reload');
    expect(await pod.state('verify=1')).toMatchObject({ drift: [] });
    expect(await pod.state('verify=1')).toMatchObject({ drift: [] });
  });
});

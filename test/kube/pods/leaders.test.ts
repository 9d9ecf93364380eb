import { getObject, leaseResource } from '@haptic/kube';
import { describe, expect, test } from 'vitest';
import { haproxyBinary } from '../../../tools/haproxy/index.ts';
import { forEachCluster, type ClusterAccess } from '../../cluster/index.ts';
import { onCleanup } from '../../haproxy/cleanup.ts';
import { until } from '../../haproxy/until.ts';
import { ingress, ingressClass, service } from '../e2e/objects.ts';
import { whyNoOrigins as whyNoNetworks } from '../e2e/origins.ts';
import type { Controller } from '../e2e/world.ts';
import { PodWorld, type Machine } from './pod-world.ts';

const SLOW = 400_000;

const noNetworks = await whyNoNetworks();

/** Short, but not so that a busy machine loses a term by itself. */
const leaderElection = { leaseDuration: '9s', renewDeadline: '6s', retryPeriod: '2s' };

async function holder(cluster: ClusterAccess, namespace: string): Promise<string | undefined> {
  const key = { resource: leaseResource, namespace, name: 'haptic-leader' };
  const lease = await getObject(cluster.api, key);
  return (lease?.['spec'] as { holderIdentity?: string } | undefined)?.holderIdentity;
}

const leads = (controller: Controller): boolean =>
  controller.log().some(({ msg }) => msg === 'this process leads');

const epochOf = async (machine: Machine): Promise<number> => (await machine.state()).token?.epoch ?? 0;

/** A process that does nothing until it may again. */
function stopped({ agent: { pid } }: Machine): () => void {
  let isStopped = true;
  process.kill(pid, 'SIGSTOP');
  const goOn = (): void => {
    if (isStopped) process.kill(pid, 'SIGCONT');
    isStopped = false;
  };
  onCleanup(goOn);
  return goOn;
}

forEachCluster(
  (cluster, programs) => {
    describe.skipIf(noNetworks !== undefined)(`pods and their leaders ${noNetworks ?? ''}`, () => {
      async function open(namespace: string, count: number): Promise<[PodWorld, Machine[], string]> {
        const haproxy = await haproxyBinary('3.4');
        const pods = await PodWorld.open(cluster(), programs, namespace, { leaderElection });
        const machines: Machine[] = [];
        for (let index = 0; index < count; index += 1) {
          machines.push(await pods.startMachine(haproxy));
          await pods.createPod(`haproxy-${index}`, machines[index]!);
        }
        await pods.world.apply(ingressClass, service('app'), ingress('app', 'one.test', 'app'));
        return [pods, machines, haproxy];
      }

      test('a leader that dies in the middle of an apply is succeeded', { timeout: SLOW }, async () => {
        await using namespace = await cluster().namespace();
        const [pods, machines, haproxy] = await open(namespace.name, 2);
        const first = await pods.startController(haproxy);
        const one = await pods.agreed(machines, [], first);
        const before = await epochOf(machines[0]!);
        const second = await pods.startController(haproxy);
        await second.untilLogged('accepted a configuration');
        // A follower stays warm and writes nothing.
        expect(leads(second)).toBe(false);
        expect(await epochOf(machines[1]!)).toBe(before);

        const goOn = stopped(machines[1]!);
        await pods.world.apply(ingress('app', 'two.test', 'app'));
        const two = await pods.agreed([machines[0]!], [one], first);
        process.kill(first.pid, 'SIGKILL');
        await first.ended;
        goOn();

        await until(() => leads(second), { deadlineMs: 90_000, what: 'the other one leads' });
        // It may be another plan that serves the same: profiles of late are kept half a minute behind what happens.
        const taken = await pods.agreed(machines, [one], second);
        await pods.world.apply(ingress('app', 'three.test', 'app'));
        await pods.agreed(machines, [one, two, taken], second);
        for (const machine of machines) expect(await epochOf(machine)).toBeGreaterThan(before);
        expect(await holder(cluster(), namespace.name)).toBeDefined();
        expect(second.log().filter(({ level }) => level === 'error')).toEqual([]);
      });

      test('an epoch that only pods know of is risen above', { timeout: SLOW }, async () => {
        await using namespace = await cluster().namespace();
        const [pods, machines, haproxy] = await open(namespace.name, 1);
        const [pod] = machines as [Machine];
        // Each takes the Lease from the one before it.
        let last: string | undefined;
        for (const host of ['two.test', 'three.test', 'four.test']) {
          const controller = await pods.startController(haproxy);
          await until(() => leads(controller), { deadlineMs: 90_000, what: 'it leads' });
          await pods.world.apply(ingress('app', host, 'app'));
          last = await pods.agreed(machines, last === undefined ? [] : [last], controller);
          process.kill(controller.pid, 'SIGTERM');
          await controller.ended;
        }
        const high = await epochOf(pod);
        expect(high).toBeGreaterThanOrEqual(3);

        // Nobody can ask the pod while the new leader takes office, so it begins anew.
        await pods.world.kubectlRun(['delete', 'lease', 'haptic-leader']);
        const goOn = stopped(pod);
        const controller = await pods.startController(haproxy);
        await until(() => leads(controller), { deadlineMs: 90_000, what: 'it leads' });
        expect(controller.log().find(({ msg }) => msg === 'this process leads')).toMatchObject({ epoch: 1 });
        await pods.world.apply(ingress('app', 'five.test', 'app'));
        goOn();
        // The plan alone does not tell: the one before may have sent another as it ended.
        const risen = { deadlineMs: 90_000, what: `the pod has seen an epoch above ${high}` };
        await until(async () => (await epochOf(pod)) > high, risen);
        await pods.agreed(machines, [last!], controller);
        // Nobody was taken for a controller that had been succeeded.
        expect(controller.log().filter(({ stage }) => stage === 'fence')).toEqual([]);
      });
    });
  },
  ['1.37'],
);

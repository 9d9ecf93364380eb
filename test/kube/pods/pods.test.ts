import { describe, expect, test } from 'vitest';
import { haproxyBinary } from '../../../tools/haproxy/index.ts';
import { forEachCluster } from '../../cluster/index.ts';
import { until } from '../../haproxy/until.ts';
import { ingress, ingressClass, service, slice } from '../e2e/objects.ts';
import { whyNoOrigins as whyNoNetworks } from '../e2e/origins.ts';
import { LABELS, PodWorld, type Machine } from './pod-world.ts';

const noNetworks = await whyNoNetworks();

const SLOW = 300_000;

const applied = async (machine: Machine): Promise<string | null> => (await machine.state()).applied;

forEachCluster(
  (cluster, programs) => {
    describe.skipIf(noNetworks !== undefined)(`HAProxy pods that are found ${noNetworks ?? ''}`, () => {
      test('come, are not ours, leave and come back', { timeout: SLOW }, async () => {
        await using namespace = await cluster().namespace();
        await using other = await cluster().namespace();
        const haproxy = await haproxyBinary('3.4');
        const pods = await PodWorld.open(cluster(), programs, namespace.name);
        const { world } = pods;
        const [first, second, foreign] = [
          await pods.startMachine(haproxy),
          await pods.startMachine(haproxy),
          await pods.startMachine(haproxy),
        ];
        await world.apply(ingressClass, service('app'), ingress('app', 'one.test', 'app'));
        await pods.createPod('first', first);
        await pods.createPod('second', second, { labels: { app: 'something' } });
        await pods.createPod('first', foreign, { namespace: other.name });
        const controller = await pods.startController(haproxy);

        const one = await pods.agreed([first], [], controller);
        expect(await applied(second)).toBeNull();

        await pods.label('second', ...Object.entries(LABELS).map(([key, value]) => `${key}=${value}`));
        expect(await pods.agreed([first, second], [], controller)).toBe(one);

        // Without the label it is nobody's: it keeps what it has.
        await pods.label('second', ...Object.keys(LABELS).map((key) => `${key}-`));
        await until(() => podsFound(controller.log()).at(-1)?.length === 1, { deadlineMs: 60_000 });
        await world.apply(ingress('app', 'two.test', 'app'));
        const two = await pods.agreed([first], [one], controller);
        expect(await applied(second)).toBe(one);

        // The same controller in the same term has written to it before.
        await pods.label('second', ...Object.entries(LABELS).map(([key, value]) => `${key}=${value}`));
        expect(await pods.agreed([first, second], [one], controller)).toBe(two);

        await second.restartAgent();
        await world.apply(ingress('app', 'three.test', 'app'));
        const three = await pods.agreed([first, second], [one, two], controller);

        // Its address may be another pod's by now.
        await pods.setStatus('second', second, { phase: 'Failed' });
        await until(() => podsFound(controller.log()).at(-1)?.length === 1, { deadlineMs: 60_000 });
        await world.apply(ingress('app', 'four.test', 'app'));
        await pods.agreed([first], [three], controller);
        expect(await applied(second)).toBe(three);

        expect((await foreign.state()).token).toBeNull();
        expect(controller.log().filter(({ level }) => level === 'error')).toEqual([]);
        // The first plan neither: it is made for pods that have answered.
        expect(controller.log().filter(({ result }) => result === 'rejected')).toEqual([]);
      });

      test('are other pods under the same name, and of other versions', { timeout: SLOW }, async () => {
        await using namespace = await cluster().namespace();
        const [older, newer] = [await haproxyBinary('3.2'), await haproxyBinary('3.4')];
        const pods = await PodWorld.open(cluster(), programs, namespace.name);
        const { world } = pods;
        const [a, b, c] = [
          await pods.startMachine(newer),
          await pods.startMachine(older),
          await pods.startMachine(newer),
        ];
        await world.apply(ingressClass, service('app'), ingress('app', 'one.test', 'app'));
        await pods.createPod('haproxy-0', a);
        await pods.createPod('haproxy-1', b);
        const controller = await pods.startController(newer);
        const one = await pods.agreed([a, b], [], controller);
        expect((await b.state()).haproxyVersion).toMatch(/^3\.2\./);

        await pods.deletePod('haproxy-0');
        await pods.createPod('haproxy-0', c);
        expect(await pods.agreed([b, c], [], controller)).toBe(one);
        await world.apply(ingress('app', 'two.test', 'app'));
        await pods.agreed([b, c], [one], controller);
        expect(await applied(a)).toBe(one);
        expect(controller.log().filter(({ level }) => level === 'error')).toEqual([]);
      });

      test('are one, five and two', { timeout: SLOW }, async () => {
        await using namespace = await cluster().namespace();
        const haproxy = await haproxyBinary('3.4');
        const pods = await PodWorld.open(cluster(), programs, namespace.name);
        const { world } = pods;
        const machines = await Promise.all(Array.from({ length: 5 }, () => pods.startMachine(haproxy)));
        await world.apply(ingressClass, service('app'), ingress('app', 'one.test', 'app'));
        await pods.createPod('haproxy-0', machines[0]!);
        const controller = await pods.startController(haproxy);
        const one = await pods.agreed(machines.slice(0, 1), [], controller);
        for (const [index, machine] of machines.entries())
          if (index > 0) await pods.createPod(`haproxy-${index}`, machine);
        expect(await pods.agreed(machines, [], controller)).toBe(one);

        // In the middle of what all of them are to get.
        await world.apply(ingress('app', 'two.test', 'app'));
        for (const index of [0, 1, 2]) await pods.deletePod(`haproxy-${index}`);
        const two = await pods.agreed(machines.slice(3), [one], controller);
        await until(() => podsFound(controller.log()).at(-1)?.length === 2, { deadlineMs: 60_000 });
        const before = await Promise.all(machines.slice(0, 3).map((machine) => machine.state()));
        await world.apply(ingress('app', 'three.test', 'app'));
        await pods.agreed(machines.slice(3), [one, two], controller);
        const after = await Promise.all(machines.slice(0, 3).map((machine) => machine.state()));
        expect(after.map(({ token }) => token)).toEqual(before.map(({ token }) => token));
        expect(controller.log().filter(({ level }) => level === 'error')).toEqual([]);
      });

      test('that say nothing are rendered for as they were', { timeout: SLOW }, async () => {
        await using namespace = await cluster().namespace();
        const haproxy = await haproxyBinary('3.4');
        const pods = await PodWorld.open(cluster(), programs, namespace.name);
        const { world } = pods;
        const machine = await pods.startMachine(haproxy);
        await world.apply(ingressClass, service('app'), ingress('app', 'one.test', 'app'));
        await pods.createPod('haproxy-0', machine);
        const controller = await pods.startController(haproxy);
        const one = await pods.agreed([machine], [], controller);

        await machine.killAgent();
        await controller.untilLogged('the agent does not answer');
        const before = planIds(controller.log());
        await world.apply(ingress('app', 'two.test', 'app'));
        const two = await until(() => planIds(controller.log())[before.length], { deadlineMs: 60_000 });
        await machine.startAgent();
        expect(await pods.agreed([machine], [one], controller)).toBe(two);
        // It was never made for a pod that nobody knows.
        expect(planIds(controller.log()).slice(before.length)).toEqual([two]);
      });

      test('load nothing while they stop, but get endpoints', { timeout: SLOW }, async () => {
        await using namespace = await cluster().namespace();
        const haproxy = await haproxyBinary('3.4');
        const pods = await PodWorld.open(cluster(), programs, namespace.name);
        const { world } = pods;
        const [stays, stops] = [await pods.startMachine(haproxy), await pods.startMachine(haproxy)];
        await world.apply(
          ingressClass,
          service('app'),
          slice('app', ['198.18.0.1'], 80),
          ingress('app', 'one.test', 'app'),
        );
        await pods.createPod('stays', stays);
        await pods.createPod('stops', stops);
        const controller = await pods.startController(haproxy);
        const one = await pods.agreed([stays, stops], [], controller);
        const before = (await stops.state()).worker?.pid;

        await pods.deletePod('stops', { gone: false });
        // Another listener needs a reload.
        const listeners = { i81: { bind: '0.0.0.0:8081' } };
        await world.kubectlRun([
          'patch',
          'htplcfg',
          'haptic',
          '--type=merge',
          '-p',
          JSON.stringify({ spec: { settings: { listeners } } }),
        ]);
        const two = await pods.agreed([stays], [one], controller);
        await world.apply(slice('app', ['198.18.0.2'], 80));
        await until(async () => (await stops.servers()).includes('198.18.0.2'), { deadlineMs: 60_000 });
        const three = await pods.agreed([stays], [one, two], controller);
        expect((await stops.state()).worker?.pid).toBe(before);
        expect(await applied(stops)).not.toBe(three);
        await pods.deletePod('stops');
        await until(() => podsFound(controller.log()).at(-1)?.length === 1, { deadlineMs: 60_000 });
      });
    });
  },
  ['1.37'],
);

/** Of each render that may go out. */
function planIds(log: readonly { readonly msg: string; readonly [field: string]: unknown }[]): string[] {
  return log.filter(({ msg }) => msg === 'reconciled').map(({ planId }) => planId as string);
}

/** The names of the pods, each time that they changed. */
function podsFound(log: readonly { readonly msg: string; readonly [field: string]: unknown }[]): string[][] {
  return log.filter(({ msg }) => msg === 'found the HAProxy pods').map(({ pods }) => pods as string[]);
}

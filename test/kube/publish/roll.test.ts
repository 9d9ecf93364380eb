import { getObject } from '@haptic/kube';
import { describe, expect, test } from 'vitest';
import { haproxyBinary } from '../../../tools/haproxy/index.ts';
import { kubePrograms } from '../../../tools/kube/index.ts';
import { currentMinor, withOwnClusters } from '../../cluster/index.ts';
import { until } from '../../haproxy/until.ts';
import { ingress, ingressClass, service } from '../e2e/objects.ts';
import { World } from '../e2e/world.ts';
import { configKey } from './publishing.ts';
import { haproxyCfgs, ingresses } from '../kinds.ts';

const SLOW = 240_000;
const patience = { deadlineMs: 90_000 };
const ours = { ip: '192.0.2.44' };

// Controllers of other tests would take these Ingresses for theirs.
withOwnClusters((start) => {
  describe('a roll of controllers', () => {
    test('never takes away what was published, and goes on with it', { timeout: SLOW }, async () => {
      const { access } = await start();
      const { api } = access;
      const { name } = await access.namespace();
      const { kubectl } = await kubePrograms(currentMinor);
      const haproxy = await haproxyBinary('3.4');
      const world = await World.open(access, kubectl, name);
      await world.install({}, 'all');
      const own = (app: string) => ingress(app, `${app}.test`, 'app');
      await world.apply(ingressClass, service('app'), own('one'));
      const plugins = [{ use: '@haptic/publish', options: { addresses: [ours] } }];
      const pod = await world.startPod('haproxy-0', haproxy);
      const first = await world.startController([pod], { haproxy, plugins });

      const addressesOf = async (app: string): Promise<unknown> => {
        const live = await getObject(api, { resource: ingresses, namespace: name, name: app });
        return (live as { status?: { loadBalancer?: { ingress?: unknown } } } | undefined)?.status
          ?.loadBalancer?.ingress;
      };
      const untilHasAddress = (app: string): Promise<unknown> =>
        until(
          async () => {
            expect(await addressesOf(app)).toEqual([ours]);
            return true;
          },
          { ...patience, what: `${app} has an address` },
        ).catch((error: Error) => {
          throw new Error(`${error.message}\n${first.stdout()}`, { cause: error });
        });
      const cfg = async () =>
        (await getObject(api, { resource: haproxyCfgs, namespace: name, name: 'haptic' })) as unknown as
          { spec: { planId: string }; status?: { conditions: { status: string }[] } } | undefined;
      await untilHasAddress('one');
      await until(async () => (await cfg())?.status?.conditions[0]?.status === 'True', patience);
      const before = await cfg();
      expect(await getObject(api, configKey(name))).toMatchObject({
        metadata: { generation: 1 },
        status: {
          observedGeneration: 1,
          conditions: [{ type: 'Validated', status: 'True', reason: 'ValidationSucceeded' }],
        },
      });

      const second = await world.startController([pod], { haproxy, plugins });
      await second.untilLogged('accepted a configuration');
      let empty = 0;
      const over = new AbortController();
      const watching = (async () => {
        while (!over.signal.aborted) {
          if (JSON.stringify(await addressesOf('one')) !== JSON.stringify([ours])) empty++;
        }
      })();
      process.kill(first.pid, 'SIGTERM');
      expect(await first.ended).toBe(0);
      await world.apply(own('two'));
      await untilHasAddress('two');
      await until(async () => {
        const now = await cfg();
        return now?.spec.planId !== before?.spec.planId && now?.status?.conditions[0]?.status === 'True';
      }, patience);
      over.abort();
      await watching;
      expect(empty).toBe(0);
      const errors = [first, second].flatMap((one) => one.log().filter(({ level }) => level === 'error'));
      expect(errors).toEqual([]);
      process.kill(second.pid, 'SIGTERM');
      expect(await second.ended).toBe(0);
      expect(await addressesOf('one')).toEqual([ours]);
    });
  });
});

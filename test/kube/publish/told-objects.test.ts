import type { KubeObject, QuarantinedObject } from '@haptic/core/contract';
import { createObject, getObject, mergeObject } from '@haptic/kube';
import { conditionRules } from '@haptic/publish';
import { beforeAll, describe, expect, test } from 'vitest';
import { forEachCluster } from '../../cluster/index.ts';
import { until } from '../../haproxy/until.ts';
import { sharedDefinitions } from '../definitions.ts';
import { eventsOf, OWN_CLASS, startPublishing, versionOf } from './publishing.ts';
import { ingresses, services } from '../kinds.ts';

const patience = { deadlineMs: 30_000 };

function refOf({ apiVersion, kind, metadata: { namespace = '', name, uid = '' } }: KubeObject) {
  return { apiVersion, kind, namespace, name, uid };
}

forEachCluster(
  (cluster) => {
    beforeAll(() => sharedDefinitions(cluster().api));

    const createService = (namespace: string, name: string): Promise<KubeObject> =>
      createObject(cluster().api, services, {
        metadata: { namespace, name },
        spec: { ports: [{ port: 80 }] },
      });

    const reasons = async (namespace: string): Promise<readonly string[]> =>
      (await eventsOf(cluster().api, namespace)).map(
        ({ reason, regarding }) => `${reason} ${regarding.name}`,
      );

    const untilTold = (namespace: string, expected: readonly string[]): Promise<unknown> =>
      until(
        async () => {
          expect((await reasons(namespace)).toSorted()).toEqual([...expected].toSorted());
          return true;
        },
        { ...patience, what: `Events ${expected.join(', ')}` },
      );

    describe('owners of objects', () => {
      test('are told in Events, in a term, of what templates and judges say', async () => {
        await using namespace = await cluster().namespace();
        const object = refOf(await createService(namespace.name, 'web'));
        const other = { ...object, name: 'other', uid: 'another' };
        const warn = (reason: string) => ({ object, reason, message: `${reason} it is` });
        const held = (one: typeof object): QuarantinedObject => ({
          watch: 'services',
          object: one,
          revision: 'r',
          reason: 'unknown keyword',
          instead: 'unavailable',
          since: 0,
        });
        const publishing = await startPublishing({ cluster: cluster(), namespace: namespace.name });
        publishing.quarantine = [held(object)];
        publishing.hooks.quarantined.call({
          added: [held(object)],
          changed: [],
          released: [],
          all: [held(object)],
        });
        publishing.release({ events: [warn('Early')] });
        publishing.begin();
        await untilTold(namespace.name, ['Quarantined web']);
        for (let time = 0; time < 3; time++) publishing.release({ events: [warn('Shadowed')] });
        publishing.release({ events: [warn('Shadowed'), warn('Ignored')] });
        publishing.hooks.quarantined.call({
          added: [held(other)],
          changed: [],
          released: [{ ...held(object), because: 'mended' }],
          all: [held(other)],
        });
        const told = ['Quarantined web', 'Shadowed web', 'Ignored web', 'Quarantined other', 'Accepted web'];
        await untilTold(namespace.name, told);
        publishing.end();
        publishing.release({ events: [warn('Late')] });
        await publishing.stop();
        await untilTold(namespace.name, told);
      });

      test('find the conditions that templates declare beside those of others', async () => {
        await using namespace = await cluster().namespace();
        const { api } = cluster();
        const [one, two] = [
          await createService(namespace.name, 'one'),
          await createService(namespace.name, 'two'),
        ];
        const key = (name: string) => ({ resource: services, namespace: namespace.name, name });
        const time = '2030-01-01T00:00:00Z';
        const theirs = { type: 'Theirs', status: 'True', reason: 'x', message: '', lastTransitionTime: time };
        for (const name of ['one', 'two']) {
          const fields = { status: { conditions: [theirs] } };
          await mergeObject(api, key(name), fields, { fieldManager: 'somebody', subresource: 'status' });
        }
        const before = await versionOf(api, key('two'));
        const start = () =>
          startPublishing({
            cluster: cluster(),
            namespace: namespace.name,
            rules: conditionRules('', 'services'),
          });
        const conditions = async (name: string): Promise<unknown> =>
          ((await getObject(api, key(name))) as { status?: { conditions?: unknown } } | undefined)?.status
            ?.conditions;
        const untilAre = (name: string, expected: unknown): Promise<unknown> =>
          until(
            async () => {
              expect(await conditions(name)).toEqual(expected);
              return true;
            },
            { ...patience, what: `conditions of ${name}` },
          );
        const served = { type: 'Served', status: 'True', reason: 'Fine' };
        const status = (of: KubeObject, ...list: object[]) =>
          ({ object: refOf(of), conditions: list }) as never;
        const first = await start();
        first.begin();
        // The second one is somebody else's word.
        first.release({
          statuses: [status(one, served), status(two, { ...served, type: 'Theirs', status: 'False' })],
        });
        await untilAre('one', [theirs, { ...served, message: '', lastTransitionTime: expect.any(String) }]);
        await until(
          () => first.log.records.some(({ fields }) => JSON.stringify(fields).includes('two Theirs')),
          patience,
        );
        await first.stop();
        const second = await start();
        second.begin();
        second.release({});
        await untilAre('one', [theirs]);
        expect(await versionOf(api, key('two'))).toBe(before);
      });
    });

    test('hundreds of statuses are written within seconds, although everything keeps changing', async () => {
      await using namespace = await cluster().namespace();
      const { api } = cluster();
      const made = await Promise.all(
        Array.from({ length: 300 }, (_, index) =>
          createObject(api, ingresses, {
            metadata: { namespace: namespace.name, name: `app-${index}` },
            spec: {
              ingressClassName: OWN_CLASS,
              defaultBackend: { service: { name: 'a', port: { number: 80 } } },
            },
          }),
        ),
      );
      const publishing = await startPublishing({
        cluster: cluster(),
        namespace: namespace.name,
        options: { addresses: [{ ip: '192.0.2.1' }] },
      });
      publishing.begin();
      const start = performance.now();
      const path = `/apis/networking.k8s.io/v1/namespaces/${namespace.name}/ingresses`;
      await until(
        async () => {
          publishing.release({ events: [] }, made);
          const { items } = (await api.json({ path })) as {
            items: { status: { loadBalancer: { ingress?: object[] } } }[];
          };
          return items.every(({ status }) => status.loadBalancer.ingress?.length === 1);
        },
        { deadlineMs: 50_000, what: 'all have addresses' },
      );
      console.log(`300 addresses took ${Math.round(performance.now() - start)} ms`);
    });
  },
  ['1.37'],
);

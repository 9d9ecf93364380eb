import type { KubeObject } from '@haptic/core/contract';
import { createObject, getObject, mergeObject } from '@haptic/kube';
import { serviceRules } from '@haptic/publish';
import { beforeAll, describe, expect, test } from 'vitest';
import { forEachCluster } from '../../cluster/index.ts';
import { until } from '../../haproxy/until.ts';
import { sharedDefinitions } from '../definitions.ts';
import { OWN_CLASS, startPublishing, versionOf } from './publishing.ts';
import { ingresses, services } from '../kinds.ts';

const patience = { deadlineMs: 90_000 };
const ours = { ip: '192.0.2.1' };
const theirs = { hostname: 'lb.somebody.test' };

forEachCluster(
  (cluster) => {
    beforeAll(() => sharedDefinitions(cluster().api));

    function inNamespace(namespace: string) {
      const { api } = cluster();
      const key = (name: string) => ({ resource: ingresses, namespace, name });
      return {
        key,
        create: (name: string, ingressClassName = OWN_CLASS): Promise<KubeObject> =>
          createObject(api, ingresses, {
            metadata: { namespace, name },
            spec: { ingressClassName, defaultBackend: { service: { name: 'app', port: { number: 80 } } } },
          }),
        say: (name: string, ingress: readonly object[]): Promise<KubeObject> =>
          mergeObject(
            api,
            key(name),
            { status: { loadBalancer: { ingress } } },
            { fieldManager: 'somebody', subresource: 'status' },
          ),
        addresses: async (name: string): Promise<unknown> =>
          (
            (await getObject(api, key(name))) as
              { status?: { loadBalancer?: { ingress?: unknown } } } | undefined
          )?.status?.loadBalancer?.ingress,
        untilHas: (name: string, wanted: unknown): Promise<unknown> =>
          until(
            async () => {
              const object = await getObject(api, key(name));
              expect((object as { status?: object })?.status).toEqual({ loadBalancer: wanted });
              return true;
            },
            { ...patience, what: `addresses of ${name}` },
          ),
      };
    }

    describe('addresses of Ingresses', () => {
      test('stand beside those of others, and foreign objects are left alone', async () => {
        await using namespace = await cluster().namespace();
        const { api } = cluster();
        const { key, create, say, untilHas } = inNamespace(namespace.name);
        const [one, shared, foreign] = [
          await create('one'),
          await create('shared'),
          await create('foreign', 'nginx'),
        ];
        await say('shared', [theirs]);
        await say('foreign', [theirs]);
        const untouched = await getObject(api, key('foreign'));
        const publishing = await startPublishing({
          cluster: cluster(),
          namespace: namespace.name,
          options: { addresses: [ours] },
        });
        publishing.release({}, [one, shared, foreign]);
        publishing.begin();
        publishing.release({}, [one, shared, foreign]);
        await untilHas('one', { ingress: [ours] });
        await untilHas('shared', { ingress: [theirs, ours] });
        const written = await versionOf(api, key('one'));
        publishing.end();
        const next = await startPublishing({
          cluster: cluster(),
          namespace: namespace.name,
          options: { addresses: [ours, { hostname: 'lb.ours.test' }] },
        });
        await publishing.stop();
        expect(await versionOf(api, key('one'))).toBe(written);
        next.begin();
        next.release({}, [one, shared, foreign]);
        await untilHas('one', { ingress: [ours, { hostname: 'lb.ours.test' }] });
        await untilHas('shared', { ingress: [theirs, ours, { hostname: 'lb.ours.test' }] });
        expect(await getObject(api, key('foreign'))).toEqual(untouched);
      });

      test('go when an Ingress is no longer ours, also after a restart', async () => {
        await using namespace = await cluster().namespace();
        const { api } = cluster();
        const { key, create, say, untilHas } = inNamespace(namespace.name);
        const [stays, leaves] = [await create('stays'), await create('leaves')];
        const start = () =>
          startPublishing({ cluster: cluster(), namespace: namespace.name, options: { addresses: [ours] } });
        const before = await start();
        before.begin();
        before.release({}, [stays, leaves]);
        await untilHas('stays', { ingress: [ours] });
        await untilHas('leaves', { ingress: [ours] });
        await before.stop();
        await say('leaves', [ours, theirs]);
        const changed = await mergeObject(
          api,
          key('leaves'),
          { spec: { ingressClassName: 'nginx' } },
          { fieldManager: 'user' },
        );
        const kept = await versionOf(api, key('stays'));
        const after = await start();
        after.begin();
        after.release({}, [stays, changed]);
        await untilHas('leaves', { ingress: [theirs] });
        expect(await versionOf(api, key('stays'))).toBe(kept);
      });

      test('stand in Ingresses with fields that are ignored, and come once it says what is accepted', async () => {
        await using namespace = await cluster().namespace();
        const { api } = cluster();
        const { key, untilHas } = inNamespace(namespace.name);
        const note = 'example.test/last-applied';
        const spec = {
          ingressClassName: OWN_CLASS,
          defaultBackend: { service: { name: 'app', port: { number: 80 } } },
          tls: [{ hosts: ['one.test'] }],
        };
        const one = await createObject(api, ingresses, {
          metadata: { namespace: namespace.name, name: 'one', annotations: { [note]: 'long' } },
          spec,
        });
        const two = await createObject(api, ingresses, {
          metadata: { namespace: namespace.name, name: 'two', annotations: { a: '1' } },
          spec,
        });
        // What is ignored changes, and raises the generation.
        const tls = [{ hosts: ['two.test'] }];
        const changed = await mergeObject(api, key('one'), { spec: { tls } }, { fieldManager: 'user' });
        expect(changed.metadata.generation).toBe(one.metadata.generation! + 1);
        const annotate = (a: string) =>
          mergeObject(api, key('two'), { metadata: { annotations: { a } } }, { fieldManager: 'user' });
        await annotate('2');
        const publishing = await startPublishing({
          cluster: cluster(),
          namespace: namespace.name,
          options: { addresses: [ours] },
          ignoreFields: ['status', 'spec.tls', `metadata.annotations."${note}"`],
        });
        publishing.begin();
        publishing.release({}, [one, two]);
        await untilHas('one', { ingress: [ours] });
        // Nobody says so: what is accepted is what it was.
        await untilHas('two', {});
        await annotate('1');
        await untilHas('two', { ingress: [ours] });
      });

      test('are those of a Service, which may lose them for a while', async () => {
        await using namespace = await cluster().namespace();
        const { api } = cluster();
        const { create, untilHas, addresses } = inNamespace(namespace.name);
        const service = { resource: services, namespace: namespace.name, name: 'haproxy' };
        await createObject(api, services, {
          metadata: { namespace: namespace.name, name: 'haproxy' },
          spec: { type: 'LoadBalancer', ports: [{ port: 80 }] },
        });
        const balanced = (ingress: readonly object[]) =>
          mergeObject(
            api,
            service,
            { status: { loadBalancer: { ingress } } },
            { fieldManager: 'cloud', subresource: 'status' },
          );
        const one = await create('one');
        const publishing = await startPublishing({
          cluster: cluster(),
          namespace: namespace.name,
          options: { service: `${namespace.name}/haproxy` },
          rules: serviceRules('haproxy'),
        });
        publishing.begin();
        publishing.release({}, [one]);
        await balanced([{ ip: '192.0.2.7' }]);
        await untilHas('one', { ingress: [{ ip: '192.0.2.7' }] });
        await balanced([]);
        await until(
          () =>
            publishing.log.records.some(({ message }) => message.startsWith('the Service has no addresses')),
          patience,
        );
        const two = await create('two');
        publishing.release({}, [one, two]);
        await untilHas('two', { ingress: [{ ip: '192.0.2.7' }] });
        expect(await addresses('one')).toEqual([{ ip: '192.0.2.7' }]);
        await balanced([{ ip: '192.0.2.8' }]);
        await untilHas('one', { ingress: [{ ip: '192.0.2.8' }] });
      });
    });
  },
  ['1.37'],
);

import type { JsonObject } from '@haptic/core/contract';
import { applyObject, createObject, getObject, mergeObject } from '@haptic/kube';
import { declaredRules } from '@haptic/publish';
import { beforeAll, describe, expect, test } from 'vitest';
import { forEachCluster, proxyTo } from '../../cluster/index.ts';
import { until } from '../../haproxy/until.ts';
import { sharedDefinitions } from '../definitions.ts';
import {
  createConfig,
  declared,
  eventsOf,
  startPublishing,
  versionOf,
  type Publishing,
} from './publishing.ts';
import { SentRequests } from './sent-requests.ts';
import { configMaps } from '../kinds.ts';

const patience = { deadlineMs: 30_000 };

function configMap(name: string, data: JsonObject = { a: '1' }): JsonObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data };
}

forEachCluster(
  (cluster) => {
    beforeAll(() => sharedDefinitions(cluster().api));

    const keyIn = (namespace: string) => (name: string) => ({ resource: configMaps, namespace, name });

    const start = (namespace: string): Promise<Publishing> =>
      startPublishing({ cluster: cluster(), namespace, rules: declaredRules('', 'configmaps') });

    const untilGone = (key: Parameters<typeof getObject>[1]): Promise<unknown> =>
      until(async () => (await getObject(cluster().api, key)) === undefined, {
        ...patience,
        what: `${key.name} is gone`,
      });

    const untilThere = (key: Parameters<typeof getObject>[1], fields: object): Promise<unknown> =>
      until(
        async () => {
          expect(await getObject(cluster().api, key)).toMatchObject(fields);
          return true;
        },
        { ...patience, what: `${key.name} is there` },
      );

    describe('resources that templates declare', () => {
      test('are applied as ours, changed, and deleted when they are declared no more, also after a restart', async () => {
        await using namespace = await cluster().namespace();
        const { api } = cluster();
        const key = keyIn(namespace.name);
        const config = await createConfig(api, namespace.name);
        const first = await start(namespace.name);
        first.accept(config);
        first.begin();
        first.release({ k8sResources: declared(configMap('a'), configMap('b'), configMap('c')) });
        await untilThere(key('a'), {
          metadata: {
            labels: { 'haproxy-haptic.org/managed-by': `${namespace.name}.haptic` },
            ownerReferences: [{ kind: 'HAProxyTemplateConfig', name: 'haptic', uid: config.uid }],
            managedFields: [{ manager: 'haptic', operation: 'Apply' }],
          },
          data: { a: '1' },
        });
        await untilThere(key('c'), { kind: 'ConfigMap' });
        const kept = await versionOf(api, key('a'));
        first.release({ k8sResources: declared(configMap('a'), configMap('b', { a: '2' })) });
        await untilGone(key('c'));
        await untilThere(key('b'), { data: { a: '2' } });
        await first.stop();

        const second = await start(namespace.name);
        second.accept(config);
        second.begin();
        second.release({ k8sResources: declared(configMap('a')) });
        await untilGone(key('b'));
        expect(await versionOf(api, key('a'))).toBe(kept);
        second.release({ k8sResources: declared() });
        await untilGone(key('a'));
      });

      test('never take what others had before, nor delete it', async () => {
        await using namespace = await cluster().namespace();
        const { api } = cluster();
        const key = keyIn(namespace.name);
        const config = await createConfig(api, namespace.name);
        const theirs = await createObject(api, configMaps, {
          metadata: { namespace: namespace.name, name: 'theirs' },
          data: { b: 'theirs' },
        });
        const publishing = await start(namespace.name);
        publishing.accept(config);
        publishing.begin();
        publishing.release({ k8sResources: declared(configMap('theirs'), configMap('ours')) });
        await untilThere(key('ours'), { kind: 'ConfigMap' });
        const events = await until(async () => {
          const found = await eventsOf(api, namespace.name);
          return found.some(({ reason }) => reason === 'ResourceConflict') && found;
        }, patience);
        expect(events.find(({ reason }) => reason === 'ResourceConflict')).toMatchObject({
          type: 'Warning',
          note: expect.stringContaining(
            'configmaps ' + namespace.name + '/theirs: there is one that is not ours',
          ),
        });
        publishing.release({ k8sResources: declared() });
        await untilGone(key('ours'));
        expect(await getObject(api, key('theirs'))).toEqual(theirs);
      });

      test('are not made over an object that somebody makes meanwhile, whatever it holds', async () => {
        await using namespace = await cluster().namespace();
        const { api } = cluster();
        const key = keyIn(namespace.name);
        const { proxy, through } = await proxyTo(cluster());
        const sent = SentRequests.to(proxy.port);
        const publishing = await startPublishing({
          cluster: through,
          namespace: namespace.name,
          rules: declaredRules('', 'configmaps'),
        });
        publishing.accept(await createConfig(api, namespace.name));
        publishing.begin();
        sent.onWrite = {
          begun: (what) => {
            if (what.endsWith('/configmaps/raced')) proxy.holdRequests();
          },
        };
        publishing.release({ k8sResources: declared(configMap('raced')) });
        await until(() => proxy.heldRequests > 0, { ...patience, what: 'ours is on its way' });
        sent.onWrite = {};
        // The very same fields: nothing of it conflicts.
        const same = { data: { a: '1' } };
        const theirs = await applyObject(api, key('raced'), same, { fieldManager: 'somebody' });
        await proxy.deliverRequests();
        const events = await until(async () => {
          const found = await eventsOf(api, namespace.name);
          return found.some(({ reason }) => reason === 'ResourceConflict') && found;
        }, patience);
        expect(events.find(({ reason }) => reason === 'ResourceConflict')).toMatchObject({
          note: expect.stringMatching(
            /raced: there is one that is not ours: .*, and was written by somebody$/,
          ),
        });
        publishing.release({ k8sResources: declared(configMap('next')) });
        await untilThere(key('next'), { kind: 'ConfigMap' });
        publishing.release({ k8sResources: declared() });
        await untilGone(key('next'));
        expect(await getObject(api, key('raced'))).toEqual(theirs);
      });

      test('are there again in two minutes when a late request took away what was right', async () => {
        await using namespace = await cluster().namespace();
        const { api } = cluster();
        const key = keyIn(namespace.name);
        const { proxy, through } = await proxyTo(cluster());
        const sent = SentRequests.to(proxy.port);
        const rules = declaredRules('', 'configmaps');
        const old = await startPublishing({ cluster: through, namespace: namespace.name, rules });
        const config = await createConfig(api, namespace.name);
        old.accept(config);
        old.begin();
        old.release({ k8sResources: declared(configMap('right')) });
        await untilThere(key('right'), { kind: 'ConfigMap' });
        sent.onWrite = {
          begun: (what) => {
            if (what.startsWith('DELETE')) proxy.holdRequests();
          },
        };
        old.release({ k8sResources: declared() });
        await until(() => proxy.heldRequests > 0, { ...patience, what: 'its end is on its way' });
        const young = await start(namespace.name);
        young.accept(config);
        old.end();
        young.begin();
        young.release({ k8sResources: declared(configMap('right'), configMap('other')) });
        await untilThere(key('other'), { kind: 'ConfigMap' });
        await proxy.deliverRequests();
        await untilGone(key('right'));
        young.clock.skip(120_000);
        await untilThere(key('right'), { data: { a: '1' } });
      });

      test('are made anew when what is being deleted has gone', async () => {
        await using namespace = await cluster().namespace();
        const { api } = cluster();
        const key = keyIn(namespace.name);
        const publishing = await start(namespace.name);
        publishing.accept(await createConfig(api, namespace.name));
        publishing.begin();
        publishing.release({ k8sResources: declared(configMap('lasting')) });
        await untilThere(key('lasting'), { kind: 'ConfigMap' });
        const finalizers = (list: readonly string[]) =>
          mergeObject(api, key('lasting'), { metadata: { finalizers: list } }, { fieldManager: 'somebody' });
        await finalizers(['example.test/wait']);
        publishing.release({ k8sResources: declared() });
        await untilThere(key('lasting'), { metadata: { deletionTimestamp: expect.any(String) } });
        publishing.release({ k8sResources: declared(configMap('lasting', { a: '2' })) });
        await until(
          () => publishing.log.records.some(({ fields }) => String(fields['err']).includes('being deleted')),
          patience,
        );
        const dying = await finalizers([]);
        await untilThere(key('lasting'), { data: { a: '2' } });
        expect((await getObject(api, key('lasting')))?.metadata.uid).not.toBe(dying.metadata.uid);
      });

      test('keep the fields that others have set, and say so', async () => {
        await using namespace = await cluster().namespace();
        const { api } = cluster();
        const key = keyIn(namespace.name);
        const publishing = await start(namespace.name);
        publishing.accept(await createConfig(api, namespace.name));
        publishing.begin();
        publishing.release({ k8sResources: declared(configMap('shared')) });
        await untilThere(key('shared'), { kind: 'ConfigMap' });
        await mergeObject(api, key('shared'), { data: { a: 'edited' } }, { fieldManager: 'user' });
        publishing.release({ k8sResources: declared(configMap('shared', { a: '2' })) });
        await until(
          async () =>
            (await eventsOf(api, namespace.name)).some(({ reason }) => reason === 'ResourceConflict'),
          patience,
        );
        expect(await getObject(api, key('shared'))).toMatchObject({ data: { a: 'edited' } });
      });

      test('that cannot be written hold up nobody else, and are complained of once', async () => {
        await using namespace = await cluster().namespace();
        await using other = await cluster().namespace();
        const { api } = cluster();
        const key = keyIn(namespace.name);
        const publishing = await start(namespace.name);
        publishing.accept(await createConfig(api, namespace.name));
        publishing.begin();
        const elsewhere = {
          ...configMap('elsewhere'),
          metadata: { name: 'elsewhere', namespace: other.name },
        };
        const unknown = { apiVersion: 'no.such/v1', kind: 'Thing', metadata: { name: 'thing' } };
        publishing.release({ k8sResources: declared(elsewhere, unknown, configMap('fine')) });
        await untilThere(key('fine'), { kind: 'ConfigMap' });
        publishing.release({ k8sResources: declared(elsewhere, unknown, configMap('fine', { a: '2' })) });
        await untilThere(key('fine'), { data: { a: '2' } });
        const complaints = publishing.log.records.filter(({ message }) =>
          message.startsWith('a declared resource'),
        );
        expect(complaints.map(({ level, fields }) => [level, (fields['err'] as Error).message])).toEqual([
          ['error', expect.stringContaining('the cluster does not serve this kind')],
          ['error', expect.stringMatching(/403 Forbidden.*configmaps "elsewhere" is forbidden/)],
        ]);
      });

      test('are those of the one that leads', async () => {
        await using namespace = await cluster().namespace();
        const { api } = cluster();
        const key = keyIn(namespace.name);
        const config = await createConfig(api, namespace.name);
        const [old, young] = [await start(namespace.name), await start(namespace.name)];
        for (const one of [old, young]) one.accept(config);
        old.begin();
        old.release({ k8sResources: declared(configMap('old'), configMap('both')) });
        await untilThere(key('both'), { kind: 'ConfigMap' });
        old.end();
        young.begin();
        old.release({ k8sResources: declared(configMap('late')) });
        young.release({ k8sResources: declared(configMap('both'), configMap('young')) });
        await untilGone(key('old'));
        await untilThere(key('young'), { kind: 'ConfigMap' });
        young.end();
        old.begin();
        old.release({ k8sResources: declared(configMap('both')) });
        await untilGone(key('young'));
        expect(await getObject(api, key('late'))).toBeUndefined();
        await untilThere(key('both'), { kind: 'ConfigMap' });
      });
    });
  },
  ['1.37'],
);

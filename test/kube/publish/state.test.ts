import { Cancelled } from '@haptic/core/contract';
import { getObject, KubeApi, loadKubeConfig, mergeObject, type AccessRule } from '@haptic/kube';
import { accessRules } from '@haptic/state-kube';
import { expect, test } from 'vitest';
import { ConfigMapStore } from '../../../plugins/state-kube/src/config-map-store.ts';
import { forEachCluster, proxyTo } from '../../cluster/index.ts';
import { onCleanup } from '../../haproxy/cleanup.ts';
import { until } from '../../haproxy/until.ts';

const NAME = 'haptic-state';
const configMaps = { apiVersion: 'v1', resource: 'configmaps', kind: 'ConfigMap', namespaced: true };

forEachCluster(
  (cluster) => {
    /** With no more rights than the plugin says it needs. */
    async function store(
      namespace: string,
      rules: readonly AccessRule[] = accessRules(NAME),
    ): Promise<ConfigMapStore> {
      const user = await cluster().user({ namespaces: { [namespace]: rules } });
      const api = new KubeApi(loadKubeConfig({ text: user }));
      onCleanup(() => api.close());
      return new ConfigMapStore({ api, namespace, name: NAME });
    }

    test('documents are kept from one process to the next, small and large', async () => {
      await using namespace = await cluster().namespace();
      const first = await store(namespace.name);
      expect(await first.read('quarantine')).toBeUndefined();
      const large = JSON.stringify(Array.from({ length: 20_000 }, (_, index) => `route ${index}`));
      await Promise.all([first.write('quarantine', 'small'), first.write('http-contents', large)]);
      const second = await store(namespace.name);
      expect(await second.read('quarantine')).toBe('small');
      expect(await second.read('http-contents')).toBe(large);
      await second.write('quarantine', large);
      await second.write('http-contents', 'small');
      const third = await store(namespace.name);
      expect([await third.read('quarantine'), await third.read('http-contents')]).toEqual([large, 'small']);
    });

    test('two writers lose nothing of each other, and an equal document is not written again', async () => {
      await using namespace = await cluster().namespace();
      const [first, second] = [await store(namespace.name), await store(namespace.name)];
      await first.write('a', '1');
      await second.write('b', '1');
      await Promise.all([first.write('a', '2'), second.write('b', '2')]);
      const key = { resource: configMaps, namespace: namespace.name, name: NAME };
      const live = await getObject(cluster().api, key);
      expect(live).toMatchObject({ data: { a: '2', b: '2' } });
      await Promise.all([first.write('a', '2'), second.write('b', '2')]);
      expect(await getObject(cluster().api, key)).toEqual(live);
      const seen: (string | undefined)[] = [];
      await mergeObject(cluster().api, key, { data: { a: 'theirs' } }, { fieldManager: 'somebody' });
      await first.replace('a', (current) => {
        seen.push(current);
        return 'ours';
      });
      expect(seen).toEqual(['2', 'theirs']);
    });

    test('who leads again finds what others wrote meanwhile, also where it wants its own last word', async () => {
      await using namespace = await cluster().namespace();
      const [first, second] = [await store(namespace.name), await store(namespace.name)];
      await first.write('a', 'ours');
      await second.write('a', 'theirs');
      first.begin('1', new AbortController().signal);
      await first.write('a', 'ours');
      expect(await second.read('a')).toBe('ours');
    });

    test('nothing that a former leader has on its way arrives once the next one has read', async () => {
      await using namespace = await cluster().namespace();
      const { proxy, through } = await proxyTo(cluster());
      const [old, young] = [
        new ConfigMapStore({ api: through.api, namespace: namespace.name, name: NAME }),
        await store(namespace.name),
      ];
      await old.write('a', 'first');
      const [term, next] = [new AbortController(), new AbortController()];
      proxy.holdRequests();
      const late = old.write('a', 'late', term.signal).catch((error: unknown) => error);
      await until(() => proxy.heldRequests > 0, { what: 'it is on its way' });
      term.abort();
      expect(await late).toBeInstanceOf(Cancelled);
      young.begin('2 young', next.signal);
      expect(await young.read('a')).toBe('first');
      const key = { resource: configMaps, namespace: namespace.name, name: NAME };
      const live = await getObject(cluster().api, key);
      await proxy.deliverRequests();
      expect(await getObject(cluster().api, key)).toEqual(live);
      expect(live?.metadata.annotations).toEqual({ 'haproxy-haptic.org/term': '2 young' });
      // Its own term writes no more than it has to, and when it is over it leaves the mark alone.
      await young.read('a');
      await young.write('a', 'first');
      expect(await getObject(cluster().api, key)).toEqual(live);
      next.abort();
      await mergeObject(
        cluster().api,
        key,
        { metadata: { annotations: { 'haproxy-haptic.org/term': '3' } } },
        { fieldManager: 'somebody' },
      );
      expect(await young.read('a')).toBe('first');
      expect((await getObject(cluster().api, key))?.metadata.annotations).toEqual({
        'haproxy-haptic.org/term': '3',
      });
    });

    test('a term begins where there is nothing yet, and who may only read does', async () => {
      await using namespace = await cluster().namespace();
      const { signal } = new AbortController();
      const first = await store(namespace.name);
      first.begin('1', signal);
      expect(await first.read('a')).toBeUndefined();
      await first.write('a', 'x');
      const [, rule] = accessRules(NAME);
      const reader = await store(namespace.name, [{ ...rule!, verbs: ['get'] }]);
      reader.begin('2', signal);
      expect(await reader.read('a')).toBe('x');
      await expect(reader.write('a', 'y')).rejects.toThrow(/cannot be written: PATCH .*forbidden/);
    });

    test('says what is not allowed', async () => {
      await using namespace = await cluster().namespace();
      const one = await store(namespace.name, []);
      const forbidden = /ConfigMap .*haptic-state cannot be read: GET .*forbidden/;
      await expect(one.read('quarantine')).rejects.toThrow(forbidden);
      await expect(one.write('quarantine', 'x')).rejects.toThrow(forbidden);
    });
  },
  ['1.37'],
);

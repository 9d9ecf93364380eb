import { getObject, KubeApi, loadKubeConfig, mergeObject, type AccessRule } from '@haptic/kube';
import { accessRules } from '@haptic/state-kube';
import { expect, test } from 'vitest';
import { ConfigMapStore } from '../../../plugins/state-kube/src/config-map-store.ts';
import { forEachCluster } from '../../cluster/index.ts';
import { onCleanup } from '../../haproxy/cleanup.ts';

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
      first.forget();
      await first.write('a', 'ours');
      expect(await second.read('a')).toBe('ours');
    });

    test('says what is not allowed', async () => {
      await using namespace = await cluster().namespace();
      const one = await store(namespace.name, []);
      await expect(one.read('quarantine')).rejects.toThrow(/ConfigMap .*haptic-state.*forbidden/);
    });
  },
  ['1.37'],
);

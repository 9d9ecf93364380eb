import {
  applyObject,
  createObject,
  deleteObject,
  getObject,
  KubeApi,
  loadKubeConfig,
  replaceObject,
} from '@haptic/kube';
import { describe, expect, onTestFinished, test } from 'vitest';
import { forEachCluster } from '../cluster/index.ts';

const configMaps = { apiVersion: 'v1', resource: 'configmaps', kind: 'ConfigMap', namespaced: true };
const ingresses = {
  apiVersion: 'networking.k8s.io/v1',
  resource: 'ingresses',
  kind: 'Ingress',
  namespaced: true,
};

function ingress(host: string): object {
  const backend = { service: { name: 'web', port: { number: 80 } } };
  return { spec: { rules: [{ host, http: { paths: [{ path: '/', pathType: 'Prefix', backend }] } }] } };
}

forEachCluster((cluster) => {
  describe('users', () => {
    test('may do what their rules say and nothing else', async () => {
      await using namespace = await cluster().namespace();
      const text = await cluster().user({
        namespaces: { [namespace.name]: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list'] }] },
      });
      const api = new KubeApi(loadKubeConfig({ text }));
      onTestFinished(() => api.close());
      expect(api.namespace).toBe(namespace.name);
      await expect(
        api.json({ path: `/api/v1/namespaces/${namespace.name}/configmaps` }),
      ).resolves.toMatchObject({
        kind: 'ConfigMapList',
      });
      await expect(api.json({ path: '/api/v1/configmaps' })).rejects.toMatchObject({
        code: 403,
        reason: 'Forbidden',
      });
    });
  });

  describe('objects', () => {
    test('are created, read, replaced against a version, and deleted against a uid', async () => {
      const { api } = cluster();
      await using namespace = await cluster().namespace();
      const key = { resource: configMaps, namespace: namespace.name, name: 'x' };
      expect(await getObject(api, key)).toBeUndefined();
      const metadata = { namespace: namespace.name, name: 'x' };
      const first = await createObject(api, configMaps, { metadata, data: { a: '1' } });
      await expect(createObject(api, configMaps, { metadata })).rejects.toMatchObject({ code: 409 });
      const second = await replaceObject(api, key, { ...first, data: { a: '2' } });
      expect(second['data']).toEqual({ a: '2' });
      await expect(replaceObject(api, key, { ...first, data: { a: '3' } })).rejects.toMatchObject({
        reason: 'Conflict',
      });
      await expect(deleteObject(api, key, { uid: 'another' })).rejects.toMatchObject({ code: 409 });
      expect(await deleteObject(api, key, { uid: second.metadata.uid ?? '' })).toBe(true);
      expect(await deleteObject(api, key)).toBe(false);
    });

    test('server-side apply owns the given fields, conflicts with other managers, and gives up what is left out', async () => {
      const { api } = cluster();
      await using namespace = await cluster().namespace();
      const key = { resource: configMaps, namespace: namespace.name, name: 'x' };
      await applyObject(api, key, { data: { a: '1', b: '1' } }, { fieldManager: 'one' });
      const conflict = applyObject(api, key, { data: { a: '2' } }, { fieldManager: 'two' });
      await expect(conflict).rejects.toMatchObject({ code: 409 });
      await applyObject(api, key, { data: { a: '2' } }, { fieldManager: 'two', force: true });
      const left = await applyObject(api, key, { metadata: { labels: { l: 'x' } } }, { fieldManager: 'one' });
      expect(left['data']).toEqual({ a: '2' });
      expect(left.metadata.labels).toEqual({ l: 'x' });
    });

    test('a status is applied apart from the spec', async () => {
      const { api } = cluster();
      await using namespace = await cluster().namespace();
      const key = { resource: ingresses, namespace: namespace.name, name: 'x' };
      await applyObject(api, key, ingress('a.example'), { fieldManager: 'user' });
      const status = { status: { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } } };
      const options = { fieldManager: 'haptic', subresource: 'status', force: true };
      const live = await applyObject(api, key, status, options);
      expect(live).toMatchObject({ ...status, ...ingress('a.example') });
    });
  });
});

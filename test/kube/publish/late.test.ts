import type { KubeObject } from '@haptic/core/contract';
import { getObject, type KubeApi } from '@haptic/kube';
import { describe, expect, test } from 'vitest';
import { currentMinor, withOwnClusters } from '../../cluster/index.ts';
import { until } from '../../haproxy/until.ts';
import { Disturbed } from './disturbed.ts';

const SLOW = 240_000;
const patience = { deadlineMs: 60_000 };
/** After this nothing of a former leader is expected any more. */
const LATE_MS = 120_000;

const COLLECTIONS = [
  'api/v1/namespaces/NAMESPACE/configmaps',
  'api/v1/namespaces/NAMESPACE/services',
  'apis/networking.k8s.io/v1/namespaces/NAMESPACE/ingresses',
  'apis/haproxy-haptic.org/v1alpha1/namespaces/NAMESPACE/haproxycfgs',
  'apis/haproxy-haptic.org/v1alpha1/namespaces/NAMESPACE/haproxytemplateconfigs',
];

/** All that is written but Events, which are never written over one another: by the end of method and path. */
const WRITES: Readonly<Record<string, (round: number) => string>> = {
  'the state': () => 'PATCH /configmaps/haptic-state',
  'a declared resource that changes': () => 'PATCH /configmaps/kept',
  'a declared resource that is new': (round) => `PATCH /configmaps/only-${round}`,
  'the end of a declared resource': (round) => `DELETE /configmaps/only-${round - 1}`,
  'the HAProxyCfg': () => 'PATCH /haproxycfgs/haptic',
  'the status of the HAProxyCfg': () => 'PATCH /haproxycfgs/haptic/status',
  'addresses of an Ingress': (round) => `PATCH /ingresses/site-${round}/status`,
  'conditions of an object': () => 'PATCH /services/owner/status',
  'the status of the config': () => 'PATCH /haproxytemplateconfigs/haptic/status',
};

withOwnClusters((start) => {
  describe('what a former leader sent and is late', () => {
    test('changes nothing that its successor has written', { timeout: SLOW }, async () => {
      const scene = await Disturbed.open(await start({ controllers: false }));
      const { api } = scene.cluster.access;
      await scene.prepare();
      scene.tell();
      await scene.untilAsTold();
      for (const [what, request] of Object.entries(WRITES)) {
        await scene.prepare();
        const { proxy } = scene.way;
        const late = `only-${scene.round}`;
        await holdAt(scene, request(scene.round), what);
        await scene.prepare();
        await scene.succeed();
        scene.tell();
        await scene.untilAsTold();
        const before = await versionsOf(api, scene.namespace);
        await proxy.deliverRequests();
        const after = await versionsOf(api, scene.namespace);
        const isNew = what === 'a declared resource that is new';
        expect(after.delete(late), what).toBe(isNew);
        expect(after, what).toEqual(before);
        if (isNew) await untilDeletedAgain(scene, late);
      }
    });
  });
}, currentMinor);

/** The next round is told, and from this request on nothing arrives. */
async function holdAt(scene: Disturbed, request: string, what: string): Promise<void> {
  const { proxy, sent } = scene.way;
  const [method = '', path = ''] = request.split(' ');
  sent.onWrite = {
    begun: (words) => {
      if (words.startsWith(method) && words.endsWith(path)) proxy.holdRequests();
    },
  };
  scene.tell();
  await until(() => proxy.heldRequests > 0, { ...patience, what: `${what} is on its way` });
  sent.onWrite = {};
}

/** Nobody wants it; who leads looks once more when nothing can be late. */
async function untilDeletedAgain({ way, cluster, namespace }: Disturbed, name: string): Promise<void> {
  const resource = { apiVersion: 'v1', resource: 'configmaps', kind: 'ConfigMap', namespaced: true };
  const { api } = cluster.access;
  way.publishing.clock.skip(LATE_MS);
  await until(async () => (await getObject(api, { resource, namespace, name })) === undefined, {
    ...patience,
    what: `${name} is deleted`,
  });
  const state = { resource, namespace, name: 'haptic-state' };
  await until(async () => !JSON.stringify(await getObject(api, state)).includes(name), {
    ...patience,
    what: `${name} is forgotten`,
  });
}

/** Of each object by kind and name. */
async function versionsOf(api: KubeApi, namespace: string): Promise<Map<string, string>> {
  const versions = new Map<string, string>();
  for (const collection of COLLECTIONS) {
    const { items } = (await api.json({ path: `/${collection.replace('NAMESPACE', namespace)}` })) as {
      readonly items: readonly KubeObject[];
    };
    for (const { metadata } of items)
      versions.set(keyOf(collection, metadata.name), metadata.resourceVersion!);
  }
  return versions;
}

function keyOf(collection: string, name: string): string {
  return collection.endsWith('/configmaps') ? name : `${collection} ${name}`;
}

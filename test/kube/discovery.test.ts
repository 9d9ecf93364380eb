import { systemClock } from '@haptic/core/host';
import { memoryLog } from '@haptic/core/testing';
import { createObject, deleteObject, Discovery, KubeApi, loadKubeConfig } from '@haptic/kube';
import { randomBytes } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { forEachCluster } from '../cluster/index.ts';
import { until } from '../haproxy/until.ts';
import { controllerRules } from './rbac/controller-rules.ts';

const definitions = {
  apiVersion: 'apiextensions.k8s.io/v1',
  resource: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
};

function definition(group: string): { readonly metadata: { readonly name: string }; readonly spec: object } {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  return {
    metadata: { name: `things.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'things', singular: 'thing', kind: 'Thing' },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  };
}

forEachCluster((cluster) => {
  /** With the rights that the chart gives to a controller; until the test ends. */
  async function controllerApi(): Promise<KubeApi> {
    const namespace = await cluster().namespace();
    const rules = controllerRules();
    const user = await cluster().user({
      cluster: rules.cluster,
      namespaces: { [namespace.name]: rules.namespace },
    });
    const api = new KubeApi(loadKubeConfig({ text: user }));
    onTestFinished(async () => {
      await api.close();
      await namespace[Symbol.asyncDispose]();
    });
    return api;
  }

  test('the first served version is found', async () => {
    const discovery = new Discovery({ api: await controllerApi(), clock: systemClock, log: memoryLog() });
    expect(await discovery.refresh()).toBe(true);
    expect(discovery.find(['networking.k8s.io/v9', 'networking.k8s.io/v1'], 'ingresses')).toEqual({
      apiVersion: 'networking.k8s.io/v1',
      resource: 'ingresses',
      kind: 'Ingress',
      namespaced: true,
    });
    expect(discovery.find(['v1'], 'namespaces')).toMatchObject({ kind: 'Namespace', namespaced: false });
    expect(discovery.findKind('v1', 'Service')).toMatchObject({ resource: 'services' });
    expect(discovery.find(['v1'], 'bindings')).toBeUndefined();
    expect(discovery.find(['gateway.networking.k8s.io/v1'], 'gateways')).toBeUndefined();
  });

  test('a definition that comes and goes is followed', async () => {
    const { api: admin } = cluster();
    const api = await controllerApi();
    const group = `g${randomBytes(4).toString('hex')}.example`;
    const discovery = new Discovery({ api, clock: systemClock, log: memoryLog(), interval: 100 });
    await discovery.refresh();
    const stop = new AbortController();
    let changes = 0;
    const following = discovery.follow(() => void (changes += 1), stop.signal);
    onTestFinished(async () => {
      stop.abort();
      await following;
    });
    const { metadata, spec } = definition(group);
    await createObject(admin, definitions, {
      metadata,
      spec,
      apiVersion: definitions.apiVersion,
      kind: definitions.kind,
    });
    await until(() => discovery.find([`${group}/v1`], 'things'), { what: 'the kind is found' });
    expect(changes).toBeGreaterThan(0);
    await deleteObject(admin, { resource: definitions, name: metadata.name });
    await until(() => discovery.find([`${group}/v1`], 'things') === undefined, { what: 'the kind is gone' });
  });
});

import type { KubeObject } from '@haptic/core/contract';
import {
  createObject,
  getObject,
  replaceObject,
  type AccessRule,
  type KubeApi,
  type Resource,
} from '@haptic/kube';
import { expect } from 'vitest';
import type { ClusterAccess } from '../../cluster/index.ts';
import { until } from '../../haproxy/until.ts';
import { controllerRules } from '../rbac/controller-rules.ts';
import { startSource, type FilledStore, type SourceOptions, type StartedSource } from './source.ts';

/** A namespace with the two plugins over it. */
export interface SourceWorld {
  /** As administrator. */
  readonly api: KubeApi;
  readonly namespace: string;
  readonly source: StartedSource;
}

export interface SourceWorldOptions extends Partial<SourceOptions> {
  /** What the test watches beyond what the chart's libraries do: operators grant it themselves. */
  readonly watching?: readonly AccessRule[];
  /** Instead of all ConfigMaps and Secrets. */
  readonly objects?: readonly AccessRule[];
  /** The way to the API server. */
  readonly through?: ClusterAccess;
}

const allObjects: readonly AccessRule[] = [
  { apiGroups: [''], resources: ['configmaps', 'secrets'], verbs: ['list', 'watch'] },
];

/** The rights are those that the chart gives to a controller, and what operators grant for watches of their own. */
export async function openWorld(
  cluster: ClusterAccess,
  { watching = [], objects = allObjects, through = cluster, ...options }: SourceWorldOptions = {},
): Promise<SourceWorld & AsyncDisposable> {
  const namespace = await cluster.namespace();
  const rules = controllerRules();
  const kubeconfig = await through.user({
    cluster: [...rules.cluster, ...objects, ...watching],
    namespaces: { [namespace.name]: rules.namespace },
  });
  const source = await startSource({ kubeconfig, namespace: namespace.name, ...options });
  return {
    api: cluster.api,
    namespace: namespace.name,
    source,
    async [Symbol.asyncDispose]() {
      await source.close();
      await namespace[Symbol.asyncDispose]();
    },
  };
}

export function put(
  { api, namespace }: SourceWorld,
  resource: Resource,
  name: string,
  fields: { readonly metadata?: object; readonly [field: string]: unknown } = {},
): Promise<KubeObject> {
  return createObject(api, resource, { ...fields, metadata: { name, namespace, ...fields.metadata } });
}

export async function change(
  { api, namespace }: SourceWorld,
  resource: Resource,
  name: string,
  fields: object,
): Promise<void> {
  const key = { resource, namespace, name };
  await replaceObject(api, key, { ...(await getObject(api, key)), ...fields });
}

export function names({ store }: FilledStore, watch: string): readonly string[] {
  return store
    .view()
    .watch(watch)
    .list()
    .map(({ metadata }) => metadata.name);
}

export function untilNames(filled: FilledStore, watch: string, wanted: readonly string[]): Promise<unknown> {
  return until(
    () => {
      expect(names(filled, watch)).toEqual(wanted);
      return true;
    },
    { what: `${watch} are ${wanted.join(', ')}`, deadlineMs: 20_000 },
  );
}

const core = (resource: string, kind: string): Resource => ({
  apiVersion: 'v1',
  resource,
  kind,
  namespaced: true,
});
export const configMaps = core('configmaps', 'ConfigMap');
export const secrets = core('secrets', 'Secret');
export const definitions: Resource = {
  apiVersion: 'apiextensions.k8s.io/v1',
  resource: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
};

/** `things` of a group of a test's own. */
export function thingsOf(group: string): Resource {
  return { apiVersion: `${group}/v1`, resource: 'things', kind: 'Thing', namespaced: true };
}

export function thingRules(group: string): readonly AccessRule[] {
  return [{ apiGroups: [group], resources: ['things'], verbs: ['list', 'watch'] }];
}

/** Their definition. */
export function definition(
  group: string,
  versions: readonly string[],
): { readonly metadata: { readonly name: string }; readonly spec: object } {
  return {
    metadata: { name: `things.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind: 'Thing', listKind: 'ThingList', plural: 'things', singular: 'thing' },
      versions: versions.map((name, index) => ({
        name,
        served: true,
        storage: index === 0,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      })),
    },
  };
}

import { readdirSync, readFileSync } from 'node:fs';
import { applyObject, type KubeApi, type Resource } from '@haptic/kube';
import { vi } from 'vitest';
import { parse } from 'yaml';

const definitions: Resource = {
  apiVersion: 'apiextensions.k8s.io/v1',
  resource: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
};

const group = 'haproxy-haptic.org/v1alpha1';

export const configs: Resource = {
  apiVersion: group,
  resource: 'haproxytemplateconfigs',
  kind: 'HAProxyTemplateConfig',
  namespaced: true,
};
export const libraries: Resource = {
  apiVersion: group,
  resource: 'haproxytemplatelibraries',
  kind: 'HAProxyTemplateLibrary',
  namespaced: true,
};
export const publications: Resource = {
  apiVersion: group,
  resource: 'haproxycfgs',
  kind: 'HAProxyCfg',
  namespaced: true,
};

interface Definition {
  readonly metadata: { readonly name: string };
  readonly spec: object;
}

function shipped(): readonly Definition[] {
  const folder = new URL('../../chart/crds/', import.meta.url);
  return readdirSync(folder).map((file) => parse(readFileSync(new URL(file, folder), 'utf8')) as Definition);
}

/** The chart's definitions in a cluster that tests share: applied by whoever comes first, the same for all; served when it resolves. */
export async function sharedDefinitions(api: KubeApi): Promise<void> {
  for (const { metadata, spec } of shipped()) {
    const key = { resource: definitions, name: metadata.name };
    await applyObject(api, key, { metadata, spec }, { fieldManager: 'test', force: true });
  }
  // "Established" comes before the last handler of the server knows the kind.
  await vi.waitFor(
    () => Promise.all(shipped().map(({ metadata }) => api.json({ path: collectionOf(metadata.name) }))),
    { timeout: 30_000, interval: 50 },
  );
}

function collectionOf(name: string): string {
  const [plural, ...group] = name.split('.');
  return `/apis/${group.join('.')}/v1alpha1/${plural}`;
}

import { describe, expect, it } from 'vitest';
import type { WatchContent } from '@haptic/core/contract';
import { misspeltKind } from './misspelt-kind.ts';

function watch(apiVersion: string, resources: string): WatchContent {
  return {
    apiVersions: [apiVersion],
    resources,
    optional: false,
    indexBy: [],
    namespaces: [],
    ignoreFields: [],
    admission: false,
    debounce: 0,
  };
}

const watches = [
  watch('networking.k8s.io/v1', 'ingresses'),
  watch('networking.k8s.io/v1', 'ingressclasses'),
  watch('v1', 'services'),
  watch('gateway.networking.k8s.io/v1', 'httproutes'),
];

function problemsOf(apiVersion: string, kind: string): readonly string[] {
  return misspeltKind({ apiVersion, kind, metadata: { name: 'x' } }, watches).map(({ message }) => message);
}

describe('misspeltKind', () => {
  it.each([
    ['networking.k8s.io/v1', 'Ingres', 'Ingress'],
    ['networking.k8s.io/v2', 'ingress', 'Ingress'],
    ['networking.k8s.io/v1', 'IngresClass', 'IngressClass'],
    ['v1', 'Sevrice', 'Service'],
    ['gateway.networking.k8s.io/v1', 'HTPRoute', 'HTTPRoute'],
  ])('%s %s is a misspelt %s', (apiVersion, kind, meant) => {
    expect(problemsOf(apiVersion, kind)).toEqual([
      `${apiVersion} has no such kind, did you mean "${meant}"?`,
    ]);
  });

  it.each([
    ['networking.k8s.io/v1', 'Ingress'],
    ['networking.k8s.io/v1', 'NetworkPolicy'],
    ['networking.k8s.io/v1', 'IPAddress'],
    ['example.org/v1', 'Ingres'],
    ['gateway.networking.k8s.io/v1', 'TCPRoute'],
    ['v1', 'Secret'],
    ['v1', 'ServiceAccount'],
    ['v1', 'Pod'],
    ['apps/v1', 'Deployment'],
  ])('%s %s is left alone', (apiVersion, kind) => {
    expect(problemsOf(apiVersion, kind)).toEqual([]);
  });
});

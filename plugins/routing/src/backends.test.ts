import type { JsonObject, KubeObject, StoreView, WatchView } from '@haptic/core/contract';
import { expect, test } from 'vitest';
import { BackendResolver } from './backends.ts';
import type { UsedBackend } from './used-backend.ts';

function service(name: string, ports: JsonObject[] = [{ name: 'http', port: 80 }]): KubeObject {
  return { apiVersion: 'v1', kind: 'Service', metadata: { namespace: 'shop', name }, spec: { ports } };
}

function slice(service: string, name: string, address: string): KubeObject {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { namespace: 'shop', name, labels: { 'kubernetes.io/service-name': service } },
    addressType: 'IPv4',
    ports: [{ name: 'http', port: 8080 }],
    endpoints: [{ addresses: [address], targetRef: { kind: 'Pod', name: `pod-${name}` } }],
  };
}

function watch(objects: readonly KubeObject[]): WatchView {
  return {
    served: true,
    list: () => objects,
    get: (_namespace, name) => objects.find(({ metadata }) => metadata.name === name),
    by: () => [],
    unavailable: () => [],
  };
}

function view(services: readonly KubeObject[], slices: readonly KubeObject[]): StoreView {
  const watches: Record<string, WatchView> = { services: watch(services), endpointslices: watch(slices) };
  return { revision: 1, watches: Object.keys(watches), watch: (name) => watches[name]! };
}

function used(service: string, port = 80): UsedBackend {
  const object = { apiVersion: 'v1', kind: 'Ingress', namespace: 'shop', name: 'app' };
  return { name: `shop_${service}_${port}`, ref: { namespace: 'shop', service, port }, objects: [object] };
}

test('a backend has the servers of all slices of its Service, and knows the objects behind it', () => {
  const slices = [
    slice('web', 'a', '10.0.0.1'),
    slice('api', 'b', '10.0.0.2'),
    slice('web', 'c', '10.0.0.3'),
  ];
  const [web] = new BackendResolver().resolve([used('web')], view([service('web')], slices));
  expect(web?.servers.map(({ name, guid }) => `${name} ${guid}`)).toEqual([
    'pod-a srv:shop_web_80:pod-a',
    'pod-c srv:shop_web_80:pod-c',
  ]);
  expect(web?.objects.map(({ kind, name }) => `${kind} ${name}`)).toEqual(['Service web', 'Ingress app']);
});

test('one without Service or port is left out, one without endpoints is not', () => {
  const backends = [used('gone'), used('web', 81), used('web')];
  const resolved = new BackendResolver().resolve(backends, view([service('web')], []));
  expect(resolved.map(({ name, servers }) => `${name} ${servers.length}`)).toEqual(['shop_web_80 0']);
});

test('an object that is not what its kind should be breaks nothing', () => {
  const broken = { ...slice('web', 'a', '10.0.0.1'), endpoints: 'none' };
  const bad = service('bad', 'none' as unknown as JsonObject[]);
  const resolved = new BackendResolver().resolve(
    [used('web'), used('bad')],
    view([service('web'), bad], [broken]),
  );
  expect(resolved.map(({ name, servers }) => `${name} ${servers.length}`)).toEqual(['shop_web_80 0']);
});

test('what did not change is the identical object in the next render', () => {
  const resolver = new BackendResolver();
  const services = [service('web'), service('api')];
  const [web, api] = [slice('web', 'a', '10.0.0.1'), slice('api', 'b', '10.0.0.2')];
  const backends = [used('web'), used('api')];
  const before = resolver.resolve(backends, view(services, [web, api]));
  const after = resolver.resolve(backends, view(services, [web, slice('api', 'b', '10.0.0.9')]));
  expect(after[0]).toBe(before[0]);
  expect(after[1]).not.toBe(before[1]);
  expect(after[1]?.servers[0]?.address).toBe('10.0.0.9');
});

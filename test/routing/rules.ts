import type { Fixtures, KubeObject } from '@haptic/core/contract';
import {
  anyHost,
  backendName,
  parseHost,
  type Condition,
  type Listener,
  type Route,
  type RouteSource,
  type Target,
} from '@haptic/routing';
import type { Rule } from './case-table.ts';

export const defaultNamespace = 'cases';
const portKeyOf = { ingress: 'i80', gateway: 'g80' } as const;
/** Hosts of rules that are Gateway listeners of their own. */
const ownListeners = ['foo.iso.test', '*.iso.test', 'empty.iso.test'];

/** A rule's backend as the name of a Service. */
export function serviceOf(backend: string): string {
  return backend.toLowerCase().replaceAll('_', '-');
}

/** What HAProxy calls the backend of a rule. */
export function haproxyName(backend: string, namespace = defaultNamespace): string {
  return backendName({ namespace, service: serviceOf(backend), port: 80 });
}

function listenerOf({ listener, host }: Rule): Listener {
  const own = listener === 'gateway' && ownListeners.includes(host ?? '') ? host : null;
  return gatewayOrIngress(listener, own);
}

function gatewayOrIngress(listener: Rule['listener'], host: string | null): Listener {
  return {
    portKey: portKeyOf[listener],
    host: parseHost(host ?? undefined, 'suffix') ?? anyHost,
    fallThrough: listener === 'ingress' ? 'namespace' : 'listener',
  };
}

function routeOf(rule: Rule): Route {
  const { namespace = defaultNamespace, name = 'rules', order, age = 0, conditions = {} } = rule;
  const { method, headers = [], query = [] } = conditions;
  const all: Condition[] = [
    ...(method === undefined ? [] : [{ kind: 'method' as const, value: method }]),
    ...headers.map((header) => ({ kind: 'header' as const, ...header })),
    ...query.map((parameter) => ({ kind: 'query' as const, ...parameter })),
  ];
  const { type = 'prefix', value = '/' } = rule.path ?? {};
  return {
    origin: { object: { apiVersion: 'test/v1', kind: 'Rules', namespace, name }, rule: order, index: 0 },
    listener: listenerOf(rule),
    host: parseHost(rule.host ?? undefined, rule.wildcard ?? 'one-label') ?? anyHost,
    path: { kind: type, value },
    conditions: all,
    targets: targetsOf(rule, namespace),
    age,
  };
}

function targetsOf({ backend, status, targets }: Rule, namespace: string): readonly Target[] {
  const plain: NonNullable<Rule['targets']> = [
    { weight: 1, ...(backend !== undefined && { backend }), ...(status !== undefined && { status }) },
  ];
  return (targets ?? plain).map((target) => {
    if (target.backend === undefined) {
      return { to: { kind: 'status', status: target.status as 404 | 500 | 503 }, weight: target.weight };
    }
    const ref = { namespace, service: serviceOf(target.backend), port: 80 };
    return { to: { kind: 'backend', backend: ref }, weight: target.weight };
  });
}

/** Rules as a source of routes. */
export function ruleSource(rules: readonly Rule[]): RouteSource {
  const routes = rules.map(routeOf);
  const listeners = [
    gatewayOrIngress('ingress', null),
    gatewayOrIngress('gateway', null),
    ...ownListeners.map((host) => gatewayOrIngress('gateway', host)),
  ];
  return { name: 'rules', routes: () => ({ routes, listeners, warnings: [] }) };
}

/** Services with one endpoint each, at the upstream; `gone_be` does not exist and `empty_be` has no endpoint. */
export function servicesOf(rules: readonly Rule[], upstreamPort: number): Fixtures {
  const wanted = new Map<string, { namespace: string; name: string }>();
  for (const { namespace = defaultNamespace, backend, targets = [] } of rules) {
    for (const named of [backend, ...targets.map((target) => target.backend)]) {
      if (named === undefined || named === 'gone_be') continue;
      const name = serviceOf(named);
      wanted.set(`${namespace}/${name}`, { namespace, name });
    }
  }
  const services = [...wanted.values()];
  return {
    services: services.map(serviceObject),
    endpointslices: services
      .filter(({ name }) => name !== 'empty-be')
      .map((service) => sliceObject(service, upstreamPort)),
  };
}

interface Named {
  readonly namespace: string;
  readonly name: string;
}

export function serviceObject({ namespace, name }: Named): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace, name },
    spec: { ports: [{ name: 'http', port: 80 }] },
  };
}

export function sliceObject({ namespace, name }: Named, port: number): KubeObject {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { namespace, name: `${name}-1`, labels: { 'kubernetes.io/service-name': name } },
    addressType: 'IPv4',
    endpoints: [{ addresses: ['127.0.0.1'], targetRef: { kind: 'Pod', name: `${name}-pod` } }],
    ports: [{ name: 'http', port }],
  };
}

/** Whether an Ingress can say the same. */
export function isIngressRule({ listener, path, conditions, backend }: Rule): boolean {
  return (
    listener === 'ingress' && path?.type !== 'regex' && conditions === undefined && backend !== undefined
  );
}

/** The rules as Ingresses, one each, with their class. */
export function ingressObjects(rules: readonly Rule[]): Fixtures {
  const ingressClass = {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'IngressClass',
    metadata: { name: 'haptic' },
    spec: { controller: 'haproxy-haptic.org/ingress-controller' },
  };
  return { ingresses: rules.map(ingressObject), ingressclasses: [ingressClass] };
}

function ingressObject({ namespace = defaultNamespace, host, path, backend = '', order }: Rule): KubeObject {
  const pathType = path?.type === 'exact' ? 'Exact' : 'Prefix';
  const service = { name: serviceOf(backend), port: { name: 'http' } };
  const http = { paths: [{ path: path?.value ?? '/', pathType, backend: { service } }] };
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: { namespace, name: `rule-${String(order).padStart(3, '0')}` },
    spec: { ingressClassName: 'haptic', rules: [{ ...(host === null ? {} : { host }), http }] },
  };
}

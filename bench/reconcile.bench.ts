import type { KubeObject, Rendered, RenderInput } from '@haptic/core/contract';
import { sha256 } from '@haptic/core/controller';
import { systemClock } from '@haptic/core/host';
import { compileConfig } from '@haptic/core/templates';
import { assemble, diff, PlanMemo } from '../core/src/plan/index.ts';
import { Store } from '../core/src/store/index.ts';
import { library, merged } from '../test/routing/libraries.ts';
import { productionPlugins, templateNames } from '../test/routing/plugin-globals.ts';
import { compared, median, type BenchResult } from './bench.ts';

const ROUTES = 3_000;
const fleet = { haproxyVersion: '3.4.7', paths: { base: '/etc/haproxy', workerSocket: '/run/worker.sock' } };
const { signal } = new AbortController();

function ingress(name: string): KubeObject {
  const backend = { service: { name, port: { number: 80 } } };
  const rules = [
    { host: `${name}.example.org`, http: { paths: [{ path: '/', pathType: 'Prefix', backend }] } },
  ];
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: { namespace: 'default', name },
    spec: { ingressClassName: 'haptic', rules },
  };
}

function service(name: string): KubeObject {
  const ports = [{ name: 'http', port: 80, targetPort: 8080 }];
  return { apiVersion: 'v1', kind: 'Service', metadata: { namespace: 'default', name }, spec: { ports } };
}

function slice(name: string): KubeObject {
  const labels = { 'kubernetes.io/service-name': name };
  const targetRef = { kind: 'Pod', namespace: 'default', name: `${name}-1` };
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { namespace: 'default', name: `${name}-x`, labels },
    addressType: 'IPv4',
    ports: [{ name: 'http', port: 8080 }],
    endpoints: [{ addresses: ['10.0.0.1'], conditions: { ready: true }, targetRef }],
  };
}

const ingressClass: KubeObject = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'IngressClass',
  metadata: { name: 'haptic' },
  spec: { controller: 'haproxy-haptic.org/ingress-controller' },
};

const kinds: Readonly<Record<string, readonly ((name: string) => KubeObject)[]>> = {
  ingresses: [ingress],
  services: [service],
  endpointslices: [slice],
};

/** From a change of objects to the plan for a pod, with the shipped libraries and plugins. */
async function oneAdded(routes: number): Promise<() => Promise<number>> {
  const names = await templateNames(productionPlugins, []);
  const config = merged(await Promise.all(['base', 'ingress'].map((name) => library(name))), {});
  const program = compileConfig(config, names);
  const store = new Store(config.watchedResources);
  const app = (index: number): string => `app-${index}`;
  const all = Array.from({ length: routes }, (_, index) => app(index));
  for (const [watch, { resources }] of Object.entries(config.watchedResources)) {
    const make = kinds[resources] ?? [];
    store.replace(watch, resources === 'ingressclasses' ? [ingressClass] : make.flatMap((of) => all.map(of)));
  }
  const memo = new PlanMemo(sha256);
  const render = async (): Promise<Rendered> => {
    const input: RenderInput = { config, view: store.view(), fleet };
    return assemble(
      await program.render(input, { signal, deadlineMs: 60_000, clock: systemClock }),
      config,
      memo,
    );
  };
  let baseline = await render();
  if (Object.keys(baseline.plan.backends).length < routes) throw new Error('the bench renders no routes');
  let next = routes;
  return async () => {
    const name = app(next++);
    for (const [watch, { resources }] of Object.entries(config.watchedResources)) {
      store.apply(watch, { upserts: (kinds[resources] ?? []).map((of) => of(name)), deletes: [] });
    }
    const rendered = await render();
    const { reasons } = diff({ next: rendered.plan, pod: { name: 'pod', ops: [], baseline: baseline.plan } });
    baseline = rendered;
    return reasons.length;
  };
}

export async function run(): Promise<readonly BenchResult[]> {
  const few = await median('reconcile: render, plan, diff, 1 route added to 30', await oneAdded(30));
  const many = await median(
    `reconcile: render, plan, diff, 1 route added to ${ROUTES}`,
    await oneAdded(ROUTES),
    {
      ms: 3_000,
    },
  );
  return [few, compared(many, few.value)];
}

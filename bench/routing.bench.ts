import type { KubeObject } from '@haptic/core/contract';
import { systemClock } from '@haptic/core/host';
import { compileConfig } from '@haptic/core/templates';
import { anyHost, RouteCompiler, type Listener, type Route } from '@haptic/routing';
import { Renderer } from '../core/src/render/renderer.ts';
import { Store } from '../core/src/store/index.ts';
import { library, merged, sha256 } from '../test/routing/libraries.ts';
import { productionPlugins, templateNames } from '../test/routing/plugin-globals.ts';
import { serviceObject, sliceObject } from '../test/routing/rules.ts';
import { compared, median, type BenchResult } from './bench.ts';

const ROUTES = 3_000;

const listener: Listener = Object.freeze({ portKey: 'i80', host: anyHost, fallThrough: 'namespace' });

function route(index: number, path = '/'): Route {
  const apiVersion = 'networking.k8s.io/v1';
  const object = { apiVersion, kind: 'Ingress', namespace: 'shop', name: `app-${index}` };
  const backend = { namespace: 'shop', service: `app-${index}`, port: 80 };
  return {
    origin: { object, rule: 0, index: 0 },
    listener,
    host: { kind: 'exact', name: `app-${index}.example.test` },
    path: { kind: 'prefix', value: path },
    conditions: [],
    targets: [{ to: { kind: 'backend', backend }, weight: 1 }],
    age: index,
  };
}

async function compiling(): Promise<readonly BenchResult[]> {
  const routes = Array.from({ length: ROUTES }, (_, index) => route(index));
  const input = { listeners: [listener], tenancy: 'shared' as const };
  const cold = await median(`compile ${ROUTES} routes, cold`, () => {
    new RouteCompiler().compile({ ...input, routes: routes.map((known) => ({ ...known })) });
  });
  const compiler = new RouteCompiler();
  compiler.compile({ ...input, routes });
  let change = 0;
  const one = await median(`compile after one of ${ROUTES} routes changed`, () => {
    const at = change % ROUTES;
    routes[at] = route(at, `/v${change++}`);
    compiler.compile({ ...input, routes });
  });
  return [cold, compared(one, cold.value)];
}

function ingress(index: number, path: string): KubeObject {
  const service = { name: `app-${index}`, port: { number: 80 } };
  const http = { paths: [{ path, pathType: 'Prefix', backend: { service } }] };
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: { namespace: 'shop', name: `app-${index}` },
    spec: { ingressClassName: 'haptic', rules: [{ host: `app-${index}.example.test`, http }] },
  };
}

const ingressClass: KubeObject = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'IngressClass',
  metadata: { name: 'haptic' },
  spec: { controller: 'haproxy-haptic.org/ingress-controller' },
};

/** The shipped libraries, from a changed Ingress to the plan with its files. */
async function rendering(): Promise<BenchResult> {
  const config = merged([await library('base'), await library('ingress')], {});
  const names = await templateNames(productionPlugins, []);
  const renderer = new Renderer((own) => compileConfig(own, names), sha256, systemClock);
  renderer.prepare(config, []);
  const store = new Store(config.watchedResources);
  const services = Array.from({ length: ROUTES }, (_, index) => ({
    namespace: 'shop',
    name: `app-${index}`,
  }));
  store.replace(
    'ingresses',
    services.map((_, index) => ingress(index, '/')),
  );
  store.replace('ingressclasses', [ingressClass]);
  store.replace('services', services.map(serviceObject));
  store.replace(
    'endpointslices',
    services.map((service) => sliceObject(service, 8080)),
  );
  const fleet = { haproxyVersion: '3.4.0', paths: { base: '/run', workerSocket: '/run/worker.sock' } };
  const context = { signal: new AbortController().signal, caller: 'reconcile' as const };
  let change = 0;
  return median(`render and plan after one of ${ROUTES} Ingresses changed`, async () => {
    const upserts = [ingress(change % ROUTES, `/v${change++}`)];
    store.apply('ingresses', { upserts, deletes: [] });
    await renderer.render({ config, view: store.view(), fleet }, context);
  });
}

export async function run(): Promise<readonly BenchResult[]> {
  return [...(await compiling()), await rendering()];
}

import { anyHost, RouteCompiler, type Listener, type Route } from '@haptic/routing';
import { compared, median, type BenchResult } from './bench.ts';

const ROUTES = 3_000;

const listener: Listener = Object.freeze({ portKey: 'i80', host: anyHost, fallThrough: 'namespace' });

function route(index: number, path = '/'): Route {
  const object = {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    namespace: 'shop',
    name: `app-${index}`,
  };
  const backend = { namespace: 'shop', service: `app-${index}`, port: 80 };
  return Object.freeze({
    origin: { object, rule: 0, index: 0 },
    listener,
    host: { kind: 'exact', name: `app-${index}.example.test` },
    path: { kind: 'prefix', value: path },
    conditions: [],
    targets: [{ to: { kind: 'backend', backend }, weight: 1 }],
    age: index,
  });
}

export function run(): Promise<readonly BenchResult[]> {
  return measure();
}

async function measure(): Promise<readonly BenchResult[]> {
  const routes = Array.from({ length: ROUTES }, (_, index) => route(index));
  const input = { listeners: [listener], tenancy: 'shared' as const };
  const cold = await median(`compile ${ROUTES} routes, cold`, () =>
    new RouteCompiler().compile({ ...input, routes: routes.map((known) => ({ ...known })) }),
  );
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

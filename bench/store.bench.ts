import type { KubeObject } from '@haptic/core/contract';
import { Store } from '../core/src/store/index.ts';
import { compared, median, type BenchResult } from './bench.ts';

const OBJECTS = 10_000;
const shapes = {
  ingresses: { indexBy: ['metadata.namespace', 'metadata.labels.app'], ignoreFields: ['status'] },
};

function ingress(index: number, generation: number): KubeObject {
  const metadata = {
    namespace: `team-${index % 50}`,
    name: `app-${index}`,
    labels: { app: `app-${index}` },
    generation,
  };
  const paths = [
    { path: '/', pathType: 'Prefix', backend: { service: { name: `app-${index}`, port: { number: 80 } } } },
  ];
  const spec = { rules: [{ host: `app-${index}.example.org`, http: { paths } }] };
  return { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', metadata, spec };
}

function filled(objects: number): Store {
  const store = new Store(shapes);
  store.replace(
    'ingresses',
    Array.from({ length: objects }, (_, index) => ingress(index, 1)),
  );
  return store;
}

/** A change and a snapshot that is read: what a reconcile asks of the store. */
function change(objects: number): () => number {
  const store = filled(objects);
  let generation = 1;
  return () => {
    store.apply('ingresses', { upserts: [ingress(generation % objects, ++generation)], deletes: [] });
    const ingresses = store.view().watch('ingresses');
    return ingresses.list().length + ingresses.by('metadata.labels.app', 'app-7').length;
  };
}

export async function run(): Promise<readonly BenchResult[]> {
  const few = await median('store: one change among 100, snapshot read', change(100));
  const many = await median(`store: one change among ${OBJECTS}, snapshot read`, change(OBJECTS));
  const same = filled(OBJECTS);
  const unchanged = await median('store: an update that changes nothing', () => {
    same.apply('ingresses', { upserts: [ingress(7, 1)], deletes: [] });
  });
  const cold = await median(`store: fill with ${OBJECTS}`, () => filled(OBJECTS), { ms: 2_000 });
  return [few, compared(many, few.value), unchanged, cold];
}

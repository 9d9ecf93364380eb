import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  Bug,
  readField,
  Refused,
  type KubeObject,
  type StoreChange,
  type StoreView,
} from '../contract/index.ts';
import { fixtureView, overlay } from './snapshot.ts';
import { Store } from './store.ts';

const shapes = {
  ingresses: {
    indexBy: ['metadata.labels.app', 'spec.class'],
    ignoreFields: ['status', 'metadata.annotations.a\\.b/c'],
  },
  secrets: { indexBy: [], ignoreFields: [] },
};

function ingress(name: string, spec: object = {}, metadata: object = {}): KubeObject {
  return { apiVersion: 'v1', kind: 'Ingress', metadata: { name, namespace: 'ns', ...metadata }, spec };
}

function record(store: Store): StoreChange[] {
  const seen: StoreChange[] = [];
  store.onChange((changes) => seen.push(...changes));
  return seen;
}

describe('what arrives', () => {
  it('is stripped of managed and ignored fields and frozen to the bottom', () => {
    const store = new Store(shapes);
    const metadata = { managedFields: [{}], annotations: { 'a.b/c': 'x', keep: 'y' } };
    store.replace('ingresses', [
      { ...ingress('a', { rules: [{ host: 'x' }] }, metadata), status: { ready: true } },
    ]);
    const [kept] = store.view().watch('ingresses').list();
    expect(kept).toEqual(ingress('a', { rules: [{ host: 'x' }] }, { annotations: { keep: 'y' } }));
    expect(Object.isFrozen(readField(kept, ['spec', 'rules', '0']))).toBe(true);
  });

  it('leaves a frozen object of the caller as it is', () => {
    const given = Object.freeze({ ...ingress('a'), status: Object.freeze({ ready: true }) });
    new Store(shapes).replace('ingresses', [given]);
    expect(given.status).toEqual({ ready: true });
  });

  it('must have a name', () => {
    const nameless = { apiVersion: 'v1', kind: 'Ingress', metadata: {} } as KubeObject;
    expect(() => new Store(shapes).replace('ingresses', [nameless])).toThrow(
      /"ingresses" has no metadata.name/,
    );
  });

  it('must belong to a declared watch', () => {
    expect(() => new Store(shapes).replace('ingreses', [])).toThrow(Bug);
  });
});

describe('changes', () => {
  it('name what changed, with both states', () => {
    const store = new Store(shapes);
    store.replace('ingresses', [ingress('a'), ingress('b')]);
    const seen = record(store);
    store.replace('ingresses', [ingress('b', { class: 'x' }), ingress('c')]);
    expect(seen.map(({ type, object }) => `${type} ${object.namespace}/${object.name}`)).toEqual([
      'updated ns/b',
      'added ns/c',
      'deleted ns/a',
    ]);
    expect(seen[0]!.before).toEqual(ingress('b'));
    expect(seen[0]!.after).toBe(store.view().watch('ingresses').get('ns', 'b'));
  });

  it('are none when only ignored fields or the resource version moved; the object stays identical', () => {
    const store = new Store(shapes);
    store.replace('ingresses', [ingress('a', { class: 'x' }, { resourceVersion: '1' })]);
    const before = store.view();
    const seen = record(store);
    const again = { ...ingress('a', { class: 'x' }, { resourceVersion: '2' }), status: { ready: true } };
    store.apply('ingresses', { upserts: [again], deletes: [{ namespace: 'ns', name: 'absent' }] });
    expect(seen).toEqual([]);
    expect(store.view()).toBe(before);
  });

  it('see a value that appears, goes, or turns to undefined', () => {
    const store = new Store(shapes);
    store.replace('ingresses', [ingress('a', { x: 1 }, { resourceVersion: '1' })]);
    const seen = record(store);
    store.replace('ingresses', [ingress('a', { y: 1 })]);
    store.replace('ingresses', [ingress('a', { y: [1] })]);
    store.replace('ingresses', [ingress('a', { y: { 0: 1 } })]);
    store.replace('ingresses', [ingress('a', { y: null })]);
    store.replace('ingresses', [ingress('a', {}, { labels: { resourceVersion: '3' } })]);
    expect(seen.map(({ type }) => type)).toEqual(Array.from({ length: 5 }, () => 'updated'));
  });

  it('of one batch are seen together or not at all', () => {
    const store = new Store(shapes);
    store.replace('ingresses', [ingress('a')]);
    const before = store.view();
    const bad = { apiVersion: 'v1', kind: 'Ingress', metadata: {} } as KubeObject;
    expect(() => store.apply('ingresses', { upserts: [ingress('b'), bad], deletes: [] })).toThrow(Refused);
    expect(store.view()).toBe(before);
  });

  it('are no longer told after the listener stopped', () => {
    const store = new Store(shapes);
    const seen: StoreChange[] = [];
    const stop = store.onChange((changes) => seen.push(...changes));
    stop();
    store.replace('ingresses', [ingress('a')]);
    expect(seen).toEqual([]);
  });
});

describe('synced and served', () => {
  it('follow the source', () => {
    const store = new Store(shapes);
    let told = 0;
    store.onChange(() => told++);
    expect(store.unsynced).toEqual(['ingresses', 'secrets']);
    store.replace('ingresses', []);
    store.notServed('secrets');
    expect([store.unsynced, store.notServedWatches, told]).toEqual([[], ['secrets'], 2]);
    store.replace('secrets', []);
    expect(store.view().watch('secrets').served).toBe(true);
  });

  it('empty a watch that is no longer served', () => {
    const store = new Store(shapes);
    store.replace('ingresses', [ingress('a')]);
    const seen = record(store);
    store.notServed('ingresses');
    expect(seen.map(({ type }) => type)).toEqual(['deleted']);
    expect(store.view().watch('ingresses').list()).toEqual([]);
  });
});

describe('indexes', () => {
  const view = fixtureView(shapes, {
    ingresses: [
      ingress('b', { class: 'x' }, { labels: { app: 'one' } }),
      ingress('a', { class: 'x' }, { labels: { app: 'one' } }),
      ingress('c', { class: 7 }, { labels: { app: 'one' } }),
    ],
  });
  const names = (objects: readonly KubeObject[]): readonly string[] =>
    objects.map(({ metadata }) => metadata.name);

  it('find by one path and by several, in order', () => {
    const ingresses = view.watch('ingresses');
    expect(names(ingresses.by('metadata.labels.app', 'one'))).toEqual(['a', 'b', 'c']);
    expect(names(ingresses.by('spec.class', '7'))).toEqual(['c']);
    expect(names(ingresses.by('metadata.labels.app,spec.class', 'one', 'x'))).toEqual(['a', 'b']);
    expect(ingresses.by('spec.class', 'none')).toEqual([]);
  });

  it('refuse what is not declared, naming the nearest', () => {
    expect(() => view.watch('ingresses').by('metadata.labels.apps', 'x')).toThrow(
      'watch "ingresses" has no index "metadata.labels.apps"; it has metadata.labels.app, spec.class, did you mean "metadata.labels.app"?',
    );
    expect(() => view.watch('secrets').by('x', 'y')).toThrow(/it has none/);
    expect(() => view.watch('ingresses').by('spec.class', 'a', 'b')).toThrow(/takes 1 key\(s\), got 2/);
    expect(() => view.watch('ingress')).toThrow(
      'no watched resource is named "ingress", did you mean "ingresses"?',
    );
  });
});

describe('overlay', () => {
  it('lays proposals over a view that stays as it is, under its revision', () => {
    const base = fixtureView(shapes, { ingresses: [ingress('a'), ingress('b')] });
    const proposed = overlay(base, [
      { watch: 'ingresses', object: ingress('c', { class: 'x' }) },
      { watch: 'ingresses', delete: { namespace: 'ns', name: 'a' } },
    ]);
    expect(
      proposed
        .watch('ingresses')
        .list()
        .map(({ metadata }) => metadata.name),
    ).toEqual(['b', 'c']);
    expect(proposed.watch('ingresses').by('spec.class', 'x')).toHaveLength(1);
    expect(proposed.revision).toBe(base.revision);
    expect(proposed.watch('ingresses').get('ns', 'b')).toBe(base.watch('ingresses').get('ns', 'b'));
    expect(base.watch('ingresses').list()).toHaveLength(2);
  });

  it('refuses an unknown watch and a view that is no snapshot', () => {
    const base = fixtureView(shapes, {});
    expect(() => overlay(base, [{ watch: 'x', object: ingress('a') }])).toThrow(Refused);
    expect(() => overlay({ ...base, watch: (name) => base.watch(name) }, [])).toThrow(Bug);
  });
});

describe('any sequence of operations', () => {
  const arbName = fc.record({
    namespace: fc.constantFrom('', 'a', 'b', 'b-'),
    name: fc.stringMatching(/^[a-d]{1,3}$/),
  });
  const arbObject = fc
    .tuple(arbName, fc.constantFrom('x', 'y', 7, undefined), fc.constantFrom('one', 'two'))
    .map(([{ namespace, name }, value, app]) =>
      ingress(name, value === undefined ? {} : { class: value }, {
        ...(namespace && { namespace }),
        labels: { app },
      }),
    )
    .map((object) => (object.metadata.namespace === 'ns' ? withoutNamespace(object) : object));
  const arbOperation = fc.oneof(
    { weight: 1, arbitrary: fc.record({ replace: fc.array(arbObject, { maxLength: 300 }) }) },
    {
      weight: 4,
      arbitrary: fc.record({
        upserts: fc.array(arbObject, { maxLength: 20 }),
        deletes: fc.array(arbName, { maxLength: 20 }),
      }),
    },
    { weight: 1, arbitrary: fc.constant({ notServed: true } as const) },
  );

  function withoutNamespace(object: KubeObject): KubeObject {
    const { namespace: _none, ...metadata } = object.metadata;
    return { ...object, metadata };
  }
  const key = ({ metadata }: KubeObject): string => `${metadata.namespace ?? ''}\0${metadata.name}`;

  /** Everything that a reader can see. */
  function contents(view: StoreView): unknown {
    const watch = view.watch('ingresses');
    const by = (index: string, ...keys: string[]): unknown => watch.by(index, ...keys).map(key);
    return {
      list: watch.list(),
      found: watch
        .list()
        .every(({ metadata }) => watch.get(metadata.namespace ?? '', metadata.name) !== undefined),
      app: [by('metadata.labels.app', 'one'), by('metadata.labels.app', 'two')],
      class: [by('spec.class', 'x'), by('spec.class', '7'), by('metadata.labels.app,spec.class', 'one', 'y')],
      served: watch.served,
    };
  }

  it('gives the snapshot of a cold start, and old snapshots never change', () => {
    fc.assert(
      fc.property(fc.array(arbOperation, { maxLength: 12 }), (operations) => {
        const store = new Store(shapes);
        const model = new Map<string, KubeObject>();
        const taken: (readonly [StoreView, string])[] = [];
        let served = true;
        for (const operation of operations) {
          if ('replace' in operation) {
            store.replace('ingresses', structuredClone(operation.replace));
            model.clear();
            for (const object of operation.replace) model.set(key(object), object);
            served = true;
          } else if ('notServed' in operation) {
            store.notServed('ingresses');
            model.clear();
            served = false;
          } else {
            store.apply('ingresses', structuredClone(operation));
            for (const { namespace, name } of operation.deletes) model.delete(`${namespace}\0${name}`);
            for (const object of operation.upserts) model.set(key(object), object);
          }
          taken.push([store.view(), JSON.stringify(contents(store.view()))]);
        }
        const cold = fixtureView(
          shapes,
          { ingresses: structuredClone([...model.values()]) },
          served ? [] : ['ingresses'],
        );
        expect(contents(store.view())).toEqual(contents(cold));
        for (const [view, then] of taken) expect(JSON.stringify(contents(view))).toBe(then);
      }),
      { numRuns: process.env['HAPTIC_SOAK'] === '1' ? 5_000 : 100 },
    );
  });

  it('reports changes that lead from the first state to the last', () => {
    fc.assert(
      fc.property(fc.array(arbOperation, { maxLength: 12 }), (operations) => {
        const store = new Store(shapes);
        const model = new Map<string, KubeObject>();
        store.onChange((changes) => {
          for (const { type, object, before, after } of changes) {
            const id = `${object.namespace}\0${object.name}`;
            expect(model.get(id)).toBe(before);
            if (type === 'deleted') model.delete(id);
            else model.set(id, after!);
          }
        });
        for (const operation of structuredClone(operations)) {
          if ('replace' in operation) store.replace('ingresses', operation.replace);
          else if ('notServed' in operation) store.notServed('ingresses');
          else store.apply('ingresses', operation);
        }
        expect(new Set(store.view().watch('ingresses').list())).toEqual(new Set(model.values()));
      }),
    );
  });
});

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../contract/index.ts';
import { overlay, type Overlay } from './snapshot.ts';
import { Store } from './store.ts';
import { Substitutions } from './substitution.ts';

function object(name: string, version = 1): KubeObject {
  return { apiVersion: 'v1', kind: 'Thing', metadata: { namespace: 'ns', name }, spec: { version } };
}

function filled(...names: readonly string[]): Store {
  const store = new Store({
    things: { indexBy: ['spec.version'], ignoreFields: [] },
    others: { indexBy: [], ignoreFields: [] },
  });
  store.replace(
    'things',
    names.map((name) => object(name)),
  );
  store.replace('others', []);
  return store;
}

const names = (objects: readonly KubeObject[]): string[] => objects.map(({ metadata }) => metadata.name);

describe('an object that is unavailable', () => {
  it('is in no list, by no name and in no index, and where it is asked for', () => {
    const things = overlay(filled('a', 'b').view(), [{ watch: 'things', unavailable: object('a', 2) }]).watch(
      'things',
    );
    expect(names(things.list())).toEqual(['b']);
    expect(things.get('ns', 'a')).toBeUndefined();
    expect(things.by('spec.version', '1')).toHaveLength(1);
    expect(things.by('spec.version', '2')).toEqual([]);
    expect(things.unavailable()).toMatchObject([{ metadata: { name: 'a' }, spec: { version: 2 } }]);
  });

  it('gives way to a proposal, and to its deletion', () => {
    const view = overlay(filled('a', 'b').view(), [{ watch: 'things', unavailable: object('a') }]);
    const proposed = overlay(view, [{ watch: 'things', object: object('a', 3) }]).watch('things');
    expect(names(proposed.list())).toEqual(['a', 'b']);
    expect(proposed.unavailable()).toEqual([]);
    const deleted = overlay(view, [{ watch: 'things', delete: { namespace: 'ns', name: 'a' } }]).watch(
      'things',
    );
    expect(names(deleted.list())).toEqual(['b']);
    expect(deleted.unavailable()).toEqual([]);
  });
});

describe('substitutions', () => {
  it('change nothing where nothing is substituted', () => {
    const view = filled('a').view();
    expect(new Substitutions().apply(view, [])).toBe(view);
  });

  it('keep what did not change below them the identical watch', () => {
    const store = filled('a', 'b');
    const substitutions = new Substitutions();
    const proposals = (): Overlay[] => [{ watch: 'things', unavailable: accepted }];
    const accepted = object('a');
    const first = substitutions.apply(store.view(), proposals());
    expect(substitutions.apply(store.view(), proposals())).toBe(first);
    store.apply('others', { upserts: [object('x')], deletes: [] });
    const second = substitutions.apply(store.view(), proposals());
    expect(second).not.toBe(first);
    expect(second.revision).toBeGreaterThan(first.revision);
    expect(second.watch('things')).toBe(first.watch('things'));
    store.apply('things', { upserts: [object('b', 2)], deletes: [] });
    const third = substitutions.apply(store.view(), proposals());
    expect(third.watch('things').get('ns', 'b')).toMatchObject({ spec: { version: 2 } });
    expect(third.watch('things').get('ns', 'a')).toBeUndefined();
  });

  it('say the same as a fresh overlay, in whatever order they come', () => {
    const name = fc.constantFrom('a', 'b', 'c', 'd');
    const proposal: fc.Arbitrary<Overlay> = fc.oneof(
      fc
        .tuple(name, fc.integer({ min: 1, max: 3 }))
        .map(([of, version]) => ({ watch: 'things', object: object(of, version) })),
      name.map((of) => ({ watch: 'things', unavailable: object(of) })),
      name.map((of) => ({ watch: 'things', delete: { namespace: 'ns', name: of } })),
    );
    const step = fc.record({
      change: fc.option(fc.tuple(name, fc.integer({ min: 1, max: 3 }))),
      proposals: fc.array(proposal, { maxLength: 4 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
        const store = filled('a', 'b', 'c');
        const substitutions = new Substitutions();
        for (const { change, proposals } of steps) {
          if (change !== null) store.apply('things', { upserts: [object(...change)], deletes: [] });
          const kept = substitutions.apply(store.view(), proposals).watch('things');
          const fresh = overlay(store.view(), proposals).watch('things');
          expect(kept.list()).toEqual(fresh.list());
          expect(kept.unavailable()).toEqual(fresh.unavailable());
          expect(kept.by('spec.version', '2')).toEqual(fresh.by('spec.version', '2'));
        }
      }),
    );
  });
});

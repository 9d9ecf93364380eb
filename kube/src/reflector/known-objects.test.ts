import type { KubeObject } from '@haptic/core/contract';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { KnownObjects, nameOf, type Changes, type Update } from './known-objects.ts';

function object(name: string, value: number, version: number): KubeObject {
  const metadata = { name, namespace: 'a', resourceVersion: `${version}`, generation: version };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { value } };
}

const names = fc.constantFrom('a', 'b', 'c', 'd');
const item = fc
  .tuple(names, fc.nat(2), fc.nat())
  .map(([name, value, version]) => object(name, value, version));
const list = fc.uniqueArray(item, { selector: ({ metadata }) => metadata.name });
const update: fc.Arbitrary<Update> = fc.oneof(
  item.map((found): Update => [nameOf(found), found]),
  names.map((name): Update => [{ namespace: 'a', name }, undefined]),
);
const step = fc.oneof(
  fc.array(update).map((updates) => ({ updates })),
  list.map((objects) => ({ objects })),
);

function valuesOf(objects: Iterable<KubeObject>): Readonly<Record<string, unknown>> {
  return Object.fromEntries([...objects].map((found) => [found.metadata.name, found['data']]));
}

/** As somebody who is only told changes. @throws Error for one that changes nothing */
function follow(copy: Map<string, KubeObject>, { upserts, deletes }: Changes): void {
  for (const found of upserts) {
    expect(copy.get(found.metadata.name)?.['data']).not.toEqual(found['data']);
    copy.set(found.metadata.name, found);
  }
  for (const { name } of deletes) expect(copy.delete(name)).toBe(true);
}

test('changes lead from each state to the next, and each of them is one', () => {
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const known = new KnownObjects();
      const copy = new Map<string, KubeObject>();
      const truth = new Map<string, KubeObject>();
      for (const next of steps) {
        if ('objects' in next) {
          truth.clear();
          for (const found of next.objects) truth.set(found.metadata.name, found);
          follow(copy, known.replace(next.objects));
        } else {
          for (const [{ name }, found] of next.updates) {
            if (found === undefined) truth.delete(name);
            else truth.set(name, found);
          }
          follow(copy, known.update(next.updates));
        }
        expect(valuesOf(copy.values())).toEqual(valuesOf(truth.values()));
        expect(valuesOf(known.list())).toEqual(valuesOf(truth.values()));
      }
    }),
  );
});

test('an object that says nothing new keeps its identity', () => {
  const known = new KnownObjects();
  const first = object('a', 1, 1);
  known.replace([first]);
  expect(known.update([[nameOf(first), object('a', 1, 2)]])).toEqual({ upserts: [], deletes: [] });
  known.replace([object('a', 1, 3)]);
  expect(known.list()[0]).toBe(first);
});

test('an object that was made anew with the same content is a change', () => {
  const known = new KnownObjects();
  const made = (uid: string): KubeObject => {
    const found = object('a', 1, 1);
    return { ...found, metadata: { ...found.metadata, uid } };
  };
  known.replace([made('1')]);
  expect(known.replace([made('2')]).upserts).toHaveLength(1);
});

import type { KubeObject } from '@haptic/core/contract';
import { beforeEach, expect, test } from 'vitest';
import type { Subscriber } from './shared-watch.ts';
import { subscribeToAll } from './subscribe-to-all.ts';

const secret = (name: string, type: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { namespace: 'n', name },
  type,
});
const words = (objects: readonly KubeObject[]): string =>
  objects.map(({ metadata, type }) => `${metadata.name}:${String(type)}`).join(' ');

let told: string[] = [];
let parts: Subscriber[] = [];
let ended = 0;
let stop: () => void;

beforeEach(() => {
  [told, parts, ended] = [[], [], 0];
  const subscribe = (subscriber: Subscriber): (() => void) => {
    parts.push(subscriber);
    return () => void (ended += 1);
  };
  stop = subscribeToAll([subscribe, subscribe], {
    replace: (objects) => told.push(`= ${words(objects)}`),
    apply({ upserts, deletes }) {
      if (upserts.length > 0) told.push(`+ ${words(upserts)}`);
      if (deletes.length > 0) told.push(`- ${deletes.map(({ name }) => name).join(' ')}`);
    },
  });
});

function put(part: number, name: string, type: string): void {
  parts[part]!.apply({ upserts: [secret(name, type)], deletes: [] });
}

function remove(part: number, name: string): void {
  parts[part]!.apply({ upserts: [], deletes: [{ namespace: 'n', name }] });
}

test('nothing is told before all have everything, and every change from then on', () => {
  parts[0]!.replace([secret('a', 'tls')]);
  put(0, 'b', 'tls');
  expect(told).toEqual([]);
  parts[1]!.replace([secret('c', 'opaque')]);
  put(1, 'c', 'changed');
  remove(0, 'a');
  expect(told).toEqual(['= c:opaque a:tls b:tls', '+ c:changed', '- a']);
  stop();
  expect(ended).toBe(2);
});

test('an object that goes from one to another is never missing when it has come, in whatever order', () => {
  parts[0]!.replace([secret('a', 'tls')]);
  parts[1]!.replace([]);
  put(1, 'a', 'opaque');
  remove(0, 'a');
  put(0, 'a', 'tls');
  remove(1, 'a');
  expect(told).toEqual(['= a:tls', '+ a:tls', '+ a:opaque', '+ a:tls', '+ a:tls']);
});

test('whoever is told everything again by one is told everything of all', () => {
  parts[0]!.replace([secret('a', 'tls')]);
  parts[1]!.replace([secret('b', 'opaque')]);
  parts[1]!.replace([]);
  expect(told).toEqual(['= b:opaque a:tls', '= a:tls']);
});

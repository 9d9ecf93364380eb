import type { KubeObject } from '@haptic/core/contract';
import { beforeEach, expect, test } from 'vitest';
import type { Subscriber } from './shared-watch.ts';
import { Succession } from './succession.ts';

const named = (name: string): KubeObject => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });

/** A subscription as a watch gives it: it tells when the test says so. */
class Begun {
  isOver = false;
  subscriber: Subscriber | undefined;

  subscribe = (subscriber: Subscriber): (() => void) => {
    this.subscriber = subscriber;
    return () => void (this.isOver = true);
  };

  list(...names: readonly string[]): void {
    this.subscriber!.replace(names.map(named));
  }

  change(name: string): void {
    this.subscriber!.apply({ upserts: [named(name)], deletes: [] });
  }
}

let told: string[] = [];
let isBroken = false;
let succession: Succession;

beforeEach(() => {
  [told, isBroken] = [[], false];
  succession = new Succession({
    replace(objects) {
      if (isBroken) throw new Error('no');
      told.push(`= ${objects.map(({ metadata }) => metadata.name).join(' ')}`);
    },
    apply: ({ upserts }) => told.push(`+ ${upserts[0]!.metadata.name}`),
  });
});

function begin(): Begun {
  const begun = new Begun();
  succession.next(begun.subscribe);
  return begun;
}

test('the present subscription goes on until its successor has everything', () => {
  const [first] = [begin()];
  first.list('a');
  const second = begin();
  first.change('b');
  expect(first.isOver).toBe(false);
  second.list('a', 'b', 'c');
  expect(first.isOver).toBe(true);
  second.change('d');
  expect(told).toEqual(['= a', '+ b', '= a b c', '+ d']);
});

test('one that has begun is not given up, and the newest wish comes after it', () => {
  const first = begin();
  const [skipped, newest] = [begin(), begin()];
  expect([first.isOver, skipped.subscriber, newest.subscriber]).toEqual([false, undefined, undefined]);
  first.list('a');
  expect(skipped.subscriber).toBeUndefined();
  newest.list('b');
  expect([first.isOver, newest.isOver]).toEqual([true, false]);
  expect(told).toEqual(['= a', '= b']);
});

test('one that tells everything at once takes over at once', () => {
  begin().list('a');
  let ended = false;
  succession.next((subscriber) => {
    subscriber.replace([named('b')]);
    return () => void (ended = true);
  });
  begin().list('c');
  expect(ended).toBe(true);
  expect(told).toEqual(['= a', '= b', '= c']);
});

test('nothing is given up for one whose list was not taken in', () => {
  const first = begin();
  first.list('a');
  const second = begin();
  isBroken = true;
  expect(() => second.list('b')).toThrow('no');
  expect(first.isOver).toBe(false);
  isBroken = false;
  second.list('b');
  expect(first.isOver).toBe(true);
});

test('a stop ends all of them, and nobody is told any more', () => {
  const first = begin();
  first.list('a');
  const [second, third] = [begin(), begin()];
  succession.stop();
  expect([first.isOver, second.isOver, third.subscriber]).toEqual([true, true, undefined]);
  second.list('b');
  first.change('c');
  expect(told).toEqual(['= a']);
});

import type { KubeObject } from '@haptic/core/contract';
import { fakeClock, memoryLog } from '@haptic/core/testing';
import { expect, test } from 'vitest';
import { WaitingObjects } from './waiting-objects.ts';

const version = (resourceVersion: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'X',
  metadata: { namespace: 'n', name: 'a', resourceVersion },
});

/** One object that waits for a list that is never answered, and what was handed on of it. */
function open(): {
  readonly clock: ReturnType<typeof fakeClock>;
  readonly passed: (string | undefined)[];
  readonly waiting: WaitingObjects;
  readonly update: (resourceVersion: string) => void;
} {
  const [clock, passed] = [fakeClock(), [] as (string | undefined)[]];
  const pass = (objects: readonly KubeObject[]): void =>
    void passed.push(...objects.map(({ metadata }) => metadata.resourceVersion));
  const waiting = new WaitingObjects({ clock, log: memoryLog(), waits: () => true, pass });
  const update = (resourceVersion: string): void => {
    expect(waiting.hold({ upserts: [version(resourceVersion)], deletes: [] }).upserts).toEqual([]);
  };
  return { clock, passed, waiting, update };
}

test('an object that changes all the while waits no longer than another', async () => {
  const { clock, passed, update } = open();
  for (const second of [0, 1, 2, 3, 4]) {
    update(`at ${second}`);
    await clock.advance(1_000);
  }
  expect(passed).toEqual(['at 4']);
  // The next one has a patience of its own.
  update('at 5');
  await clock.advance(4_999);
  expect(passed).toEqual(['at 4']);
  await clock.advance(1);
  expect(passed).toEqual(['at 4', 'at 5']);
});

test('one that went and came again waits from then on', async () => {
  const { clock, passed, waiting, update } = open();
  update('first');
  await clock.advance(3_000);
  waiting.hold({ upserts: [], deletes: [{ namespace: 'n', name: 'a' }] });
  update('second');
  await clock.advance(4_999);
  expect(passed).toEqual([]);
  await clock.advance(1);
  expect(passed).toEqual(['second']);
});

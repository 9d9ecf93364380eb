import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { ReloadLane } from './reload-lane.ts';

test('who waits in it comes before those that come again', async () => {
  const lane = new ReloadLane(
    () => 0,
    () => 1,
  );
  expect(lane.tryTake('a')).toBe(true);
  let entered = false;
  const waiting = lane.take('b', AbortSignal.timeout(60_000)).then(() => (entered = true));
  await turn();
  expect(entered).toBe(false);
  lane.free('a');
  await waiting;
  expect(lane.tryTake('c')).toBe(false);
  lane.free('b');
  expect(lane.tryTake('c')).toBe(true);
});

test('who gives up is not waited for', async () => {
  const lane = new ReloadLane(
    () => 0,
    () => 1,
  );
  lane.tryTake('a');
  const stop = new AbortController();
  const waiting = lane.take('b', stop.signal);
  stop.abort(new Error('enough'));
  await expect(waiting).rejects.toThrow('enough');
  lane.free('a');
  expect(lane.tryTake('c')).toBe(true);
  await expect(lane.take('d', AbortSignal.abort(new Error('late')))).rejects.toThrow('late');
});

test('there is always room for one', () => {
  const lane = new ReloadLane(
    () => 0,
    () => 0,
  );
  expect([lane.tryTake('a'), lane.tryTake('a'), lane.tryTake('b')]).toEqual([true, true, false]);
});

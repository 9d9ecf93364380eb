import type { Clock } from '@haptic/core/contract';
import { systemClock } from '@haptic/core/host';
import { fakeClock, memoryLog, memoryMeter } from '@haptic/core/testing';
import { expect, onTestFinished, test, vi } from 'vitest';
import { ScriptedApi, sends, status } from '../testing/scripted-api.ts';
import { EventRecorder } from './event-recorder.ts';

const written = { apiVersion: 'events.k8s.io/v1', kind: 'Event', metadata: { name: 'x' } };

const DROPPED = 'haptic_events_dropped_total';

async function recorder<C extends Clock>(clock: C) {
  const server = await ScriptedApi.start();
  const log = memoryLog();
  const meter = memoryMeter(clock);
  const events = new EventRecorder({
    api: server.client(),
    reporter: { controller: 'test', instance: 'test-1' },
    fieldManager: 'test',
    clock,
    log,
    meter,
    random: () => 0,
  });
  const stop = new AbortController();
  const running = events.run(stop.signal);
  onTestFinished(async () => {
    stop.abort();
    await running;
  });
  const occur = (name: string): boolean =>
    events.record({
      regarding: { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'a', name },
      type: 'Normal',
      reason: 'Tested',
      action: 'Test',
      note: 'it happened',
    });
  return { server, clock, log, meter, events, occur };
}

test('a server that asks to be left alone is, however much happens meanwhile', async () => {
  const { server, meter, occur } = await recorder(systemClock);
  const times: number[] = [];
  server.next((response, call) => {
    times.push(performance.now());
    return sends(429, status(429, 'TooManyRequests'), { 'retry-after': '1' })(response, call);
  });
  server.otherwise((response, call) => {
    times.push(performance.now());
    return sends(200, written)(response, call);
  });
  occur('first');
  await vi.waitFor(() => expect(times).toHaveLength(1));
  for (let number = 0; times.length === 1; number++) {
    occur(`other-${number % 5}`);
    await new Promise((resolve) => void setTimeout(resolve, 20));
  }
  expect(times[1]! - times[0]!).toBeGreaterThanOrEqual(990);
  await vi.waitFor(() => expect(times).toHaveLength(7));
  expect(meter.series(DROPPED)).toEqual([]);
});

test('one that is refused is let go and counted, and the next is written at once', async () => {
  const { server, log, meter, occur } = await recorder(systemClock);
  server.next(sends(422, status(422, 'Invalid')), sends(200, written));
  occur('first');
  await vi.waitFor(() => expect(meter.value(DROPPED, { cause: 'refused' })).toBe(1));
  occur('second');
  await vi.waitFor(() => expect(server.calls).toHaveLength(2));
  expect(log.records.map(({ level }) => level)).toEqual(['warn']);
});

test('a server that does not know the permissions yet is asked again, and one that never does a few times', async () => {
  const { server, clock, meter, occur } = await recorder(fakeClock());
  const untilAsked = (times: number): Promise<unknown> =>
    vi.waitFor(
      async () => {
        await clock.advance(1_000);
        expect(server.calls.length).toBeGreaterThanOrEqual(times);
      },
      { timeout: 8_000, interval: 5 },
    );
  server.next(sends(403, status(403, 'Forbidden')), sends(200, written));
  server.otherwise(sends(403, status(403, 'Forbidden')));
  occur('first');
  await untilAsked(2);
  expect(meter.series(DROPPED)).toEqual([]);
  occur('second');
  await untilAsked(7);
  await vi.waitFor(() => expect(meter.value(DROPPED, { cause: 'refused' })).toBe(1));
  for (let second = 0; second < 60; second += 1) await clock.advance(1_000);
  expect(server.calls).toHaveLength(7);
});

test('a missing right is complained of once until it is there, the end of a namespace is not', async () => {
  const { server, clock, log, events } = await recorder(fakeClock());
  let serial = 0;
  const become = async (namespace: string): Promise<boolean> => {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    let isSettled = false;
    const regarding = { apiVersion: 'v1', kind: 'ConfigMap', namespace, name: `object-${(serial += 1)}` };
    const what = { type: 'Normal', reason: 'Tested', action: 'Test', note: 'it happened' } as const;
    events.record({ regarding, ...what }, (isWritten) => {
      isSettled = true;
      resolve(isWritten);
    });
    await vi.waitFor(
      async () => {
        await clock.advance(1_000);
        expect(isSettled).toBe(true);
      },
      { timeout: 8_000, interval: 5 },
    );
    return promise;
  };
  const warnings = (): number => log.records.filter(({ level }) => level === 'warn').length;
  server.otherwise(sends(403, status(403, 'Forbidden')));
  expect([await become('a'), await become('a')]).toEqual([false, false]);
  expect(warnings()).toBe(1);
  await become('b');
  expect(warnings()).toBe(2);
  server.otherwise(sends(200, written));
  expect(await become('a')).toBe(true);
  server.otherwise(sends(403, status(403, 'Forbidden')));
  await become('a');
  expect(warnings()).toBe(3);
  const ends = 'unable to create new content in namespace c because it is being terminated';
  server.otherwise(sends(403, { ...(status(403, 'Forbidden') as object), message: ends }));
  expect(await become('c')).toBe(false);
  expect(warnings()).toBe(3);
});

test('says what it does not take: too much about one object, and too many of them', async () => {
  const { occur } = await recorder(systemClock);
  const taken = Array.from({ length: 1_500 }, (_, number) => occur(`object-${number}`));
  expect(taken.filter(Boolean)).toHaveLength(1_000);
  expect(occur('object-0')).toBe(true);
});

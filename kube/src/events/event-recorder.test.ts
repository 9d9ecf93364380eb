import { systemClock } from '@haptic/core/host';
import { memoryLog } from '@haptic/core/testing';
import { expect, onTestFinished, test, vi } from 'vitest';
import { ScriptedApi, sends, status } from '../testing/scripted-api.ts';
import { EventRecorder } from './event-recorder.ts';

const written = { apiVersion: 'events.k8s.io/v1', kind: 'Event', metadata: { name: 'x' } };

async function recorder() {
  const server = await ScriptedApi.start();
  const log = memoryLog();
  const events = new EventRecorder({
    api: server.client(),
    reporter: { controller: 'test', instance: 'test-1' },
    fieldManager: 'test',
    clock: systemClock,
    log,
    random: () => 0,
  });
  const stop = new AbortController();
  const running = events.run(stop.signal);
  onTestFinished(async () => {
    stop.abort();
    await running;
  });
  const occur = (name: string): void =>
    events.record({
      regarding: { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'a', name },
      type: 'Normal',
      reason: 'Tested',
      action: 'Test',
      note: 'it happened',
    });
  return { server, events, log, occur };
}

test('a server that asks to be left alone is, however much happens meanwhile', async () => {
  const { server, events, occur } = await recorder();
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
  expect(events.dropped).toBe(0);
});

test('one that is refused is let go and counted, and the next is written at once', async () => {
  const { server, events, log, occur } = await recorder();
  server.next(sends(422, status(422, 'Invalid')), sends(200, written));
  occur('first');
  await vi.waitFor(() => expect(events.dropped).toBe(1));
  occur('second');
  await vi.waitFor(() => expect(server.calls).toHaveLength(2));
  expect(log.records.map(({ level }) => level)).toEqual(['warn']);
});

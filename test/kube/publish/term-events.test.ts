import {
  Refused,
  Retry,
  type ObjectRef,
  type PlannedEvent,
  type QuarantinedObject,
} from '@haptic/core/contract';
import type { Occurrence } from '@haptic/kube';
import { fakeClock, memoryLog, memoryMeter } from '@haptic/core/testing';
import { expect, onTestFinished, test } from 'vitest';
import { ScriptedApi, sends, status } from '../../../kube/src/testing/scripted-api.ts';
import { TermEvents } from '../../../plugins/publish/src/events/term-events.ts';
import type { EventMemory } from '../../../plugins/publish/src/events/told-events.ts';
import { until } from '../../haproxy/until.ts';

const MORE_THAN_IS_KEPT = 1_200;

const written = { apiVersion: 'events.k8s.io/v1', kind: 'Event', metadata: { name: 'x' } };
const object = (name: string): ObjectRef => ({ apiVersion: 'v1', kind: 'Service', namespace: 'shop', name });
const warning = (name: string): PlannedEvent => ({
  object: object(name),
  reason: 'Shadowed',
  message: `${name} is shadowed`,
});

/** As it outlives a process. */
function memoryOf(told: string[], failures: Error[] = []): EventMemory {
  return {
    async recall() {
      const failure = failures.shift();
      if (failure !== undefined) throw failure;
      return told.splice(0);
    },
    keep: (digests) => void told.splice(0, Infinity, ...digests),
  };
}

async function started(memory?: EventMemory) {
  const server = await ScriptedApi.start();
  server.otherwise(sends(200, written));
  const [clock, stop] = [fakeClock(), new AbortController()];
  const meter = memoryMeter(clock);
  const events = new TermEvents(
    {
      api: server.client(),
      reporter: { controller: 'test', instance: 'test-1' },
      fieldManager: 'test',
      clock,
      meter,
      log: memoryLog(),
      ...(memory !== undefined && { memory }),
    },
    stop.signal,
  );
  onTestFinished(async () => {
    stop.abort();
    await events.idle();
  });
  events.termChanged({ leader: true, epoch: 1, signal: stop.signal });
  const names = (): ReadonlySet<string> =>
    new Set(server.calls.map(({ path }) => /\/events\/([a-z]+-\d+)\./.exec(path)?.[1] ?? path));
  const untilTold = (count: number): Promise<unknown> =>
    until(
      async () => {
        await clock.advance(1_000);
        const told = names();
        if (told.size !== count) throw new Error(`${told.size} are told of`);
        return true;
      },
      { deadlineMs: 60_000, what: `${count} are told of` },
    );
  return { events, clock, meter, server, untilTold };
}

test(
  'more warnings than are written at once are written later, each once',
  { timeout: 200_000 },
  async () => {
    const { events, clock, meter, server, untilTold } = await started();
    const all = Array.from({ length: MORE_THAN_IS_KEPT }, (_, number) => warning(`web-${number}`));
    events.released(all);
    expect(meter.value('haptic_events_waiting')).toBe(200);
    // One that was taken meanwhile is not told a second time, and what is no more is not told at all.
    events.released(all.slice(0, -50));
    await untilTold(1_000);
    for (let minute = 0; minute < 11; minute += 1) await clock.advance(60_000);
    await untilTold(MORE_THAN_IS_KEPT - 50);
    expect(server.calls).toHaveLength(MORE_THAN_IS_KEPT - 50);
    expect(meter.value('haptic_events_waiting')).toBe(0);
    expect(meter.series('haptic_events_dropped_total')).toEqual([]);
  },
);

test('what else happens to an object waits too, and its newest word alone', async () => {
  const { events, clock, meter, server, untilTold } = await started();
  const say = (note: string): void =>
    events.record({ regarding: object('app-1'), type: 'Warning', reason: 'Held', action: 'Validate', note });
  for (let number = 0; number < 12; number += 1) say(`${number}`);
  expect(meter.value('haptic_events_waiting')).toBe(1);
  expect(meter.value('haptic_events_dropped_total', { cause: 'limit' })).toBe(1);
  await untilTold(1);
  await until(async () => {
    await clock.advance(10_000);
    return server.calls.length === 11;
  });
  const notes = server.calls.map(({ body }) => (body as { note: string }).note);
  expect(notes).toEqual([...Array.from({ length: 10 }, (_, number) => `${number}`), '11']);
});

const held = (name: string, reason = 'no'): QuarantinedObject => ({
  watch: 'services',
  object: object(name),
  revision: 'r',
  reason,
  instead: 'nothing',
  since: 0,
});

const problem: Occurrence = {
  regarding: object('problem-1'),
  type: 'Warning',
  reason: 'ResourceConflict',
  action: 'Apply',
  note: 'it is theirs',
};

test('what a leader has told of what still holds is not told by the next one', async () => {
  const told: string[] = [];
  const first = await started(memoryOf(told));
  first.events.held([held('held-1'), held('held-2')]);
  first.events.released([warning('web-1'), warning('web-2')]);
  first.events.problems([problem]);
  await first.untilTold(5);

  const second = await started(memoryOf(told, [new Retry('no answer')]));
  second.events.held([held('held-1'), held('held-2', 'for another reason')]);
  second.events.released([warning('web-2'), warning('web-3')]);
  await second.untilTold(2);
  second.events.problems([problem]);
  await second.clock.advance(60_000);
  const notes = second.server.calls.map(({ body }) => (body as { note: string }).note);
  expect(notes.toSorted()).toEqual([
    'refused, nothing of it is served: for another reason',
    'web-3 is shadowed',
  ]);

  // What held no more in between is news when it comes again.
  const third = await started(memoryOf(told));
  third.events.problems([]);
  third.events.held([held('held-1')]);
  third.events.released([warning('web-1'), warning('web-2'), warning('web-3')]);
  await third.untilTold(1);
  third.events.held([]);
  third.events.held([held('held-1')]);
  third.events.problems([problem]);
  await third.untilTold(3);
  // Tried again it is not news, edited it is.
  third.events.held([held('held-1')]);
  third.events.held([{ ...held('held-1'), revision: 'edited' }]);
  await until(
    async () => {
      await third.clock.advance(10_000);
      return third.server.calls.length === 4;
    },
    { what: 'its repetition is told' },
  );
});

test('where it is not known what was told, it is told', async () => {
  const { events, untilTold } = await started(memoryOf([], [new Refused('forbidden')]));
  events.released([warning('web-1')]);
  await untilTold(1);
});

test('what the server refuses is not told, and told when it may be', async () => {
  const told: string[] = [];
  const { events, clock, meter, server } = await started(memoryOf(told));
  server.otherwise(sends(403, status(403, 'Forbidden')));
  events.problems([]);
  events.released([warning('web-1')]);
  const advanceUntil = (isSo: () => boolean, what: string): Promise<unknown> =>
    until(async () => (await clock.advance(1_000), isSo()), { deadlineMs: 30_000, what });
  await advanceUntil(() => meter.value('haptic_events_waiting') === 1, 'it waits again');
  const refused = server.calls.length;
  for (let seconds = 0; seconds < 20; seconds += 1) await clock.advance(1_000);
  expect(server.calls).toHaveLength(refused);
  expect(told).toEqual([]);
  server.otherwise(sends(200, written));
  await advanceUntil(() => told.length === 1, 'it is told');
  expect(meter.value('haptic_events_waiting')).toBe(0);
  expect(meter.series('haptic_events_dropped_total')).toEqual([]);
  events.released([warning('web-1')]);
  for (let minute = 0; minute < 11; minute += 1) await clock.advance(60_000);
  expect(server.calls).toHaveLength(refused + 1);
});

test('what a leader could not tell is told by the next one', async () => {
  const told: string[] = [];
  const first = await started(memoryOf(told));
  first.server.next(sends(200, written));
  first.server.otherwise(sends(503, status(503, 'ServiceUnavailable')));
  first.events.problems([]);
  first.events.released([warning('web-1'), warning('web-2')]);
  await first.untilTold(2);
  expect(told).toHaveLength(1);
  first.events.termChanged({ leader: false, epoch: 1, signal: AbortSignal.abort() });

  const second = await started(memoryOf(told));
  second.events.problems([]);
  second.events.released([warning('web-1'), warning('web-2')]);
  await second.untilTold(1);
  await second.clock.advance(60_000);
  expect(second.server.calls.map(({ body }) => (body as { note: string }).note)).toEqual([
    'web-2 is shadowed',
  ]);
});

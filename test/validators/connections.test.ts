import { setImmediate as turn } from 'node:timers/promises';
import type { Socket } from 'node:net';
import { fakeClock } from '@haptic/core/testing';
import { describe, expect, test } from 'vitest';
import { until } from '../haproxy/until.ts';
import { candidateOf } from './candidate.ts';
import { startPlugin } from './start-plugin.ts';
import { answer, frame, startValidator, valid } from './test-validator.ts';

const place = { path: 'maps/0.map', line: 1, column: 1, message: 'no' };

function maps(count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`maps/${index}.map`, 'a 1\n']));
}

function declared(name: string, socketPath: string, more: object = {}): object {
  return { name, socketPath, files: ['maps/*'], ...more };
}

describe('connections', () => {
  test('are used again, whatever an answer says of the files', async () => {
    const validator = await startValidator({ asked: (socket) => socket.write(frame(answer([place]))) });
    const { judge } = await startPlugin();
    const candidate = candidateOf(maps(1), declared('policy', validator.socketPath));
    for (let run = 0; run < 3; run++) expect((await judge(candidate)).kind).toBe('refused');
    expect(validator.requests).toHaveLength(3);
    expect(validator.connections).toHaveLength(1);
  });

  test('are not used again after an answer that is none', async () => {
    const answers = [frame('no JSON'), frame(valid)];
    const validator = await startValidator({ asked: (socket) => socket.write(answers.shift()!) });
    const { judge } = await startPlugin();
    const candidate = candidateOf(maps(1), declared('policy', validator.socketPath));
    expect((await judge(candidate)).kind).toBe('interrupted');
    expect((await judge(candidate)).kind).toBe('passed');
    expect(validator.connections).toHaveLength(2);
  });

  test('grow to the number that is declared, and carry one request at a time', async () => {
    const waiting: Socket[] = [];
    const validator = await startValidator({ asked: (socket) => void waiting.push(socket) });
    const { judge } = await startPlugin();
    const verdict = judge(
      candidateOf(maps(7), declared('policy', validator.socketPath, { maxConnections: 3 })),
    );
    for (const expected of [3, 3, 1]) {
      await until(() => waiting.length === expected);
      await turn();
      expect(new Set(waiting).size).toBe(expected);
      for (const socket of waiting.splice(0)) socket.write(frame(valid));
    }
    expect((await verdict).kind).toBe('passed');
    expect(validator.connections).toHaveLength(3);
  });

  test('of all validators together carry 16 requests at most', async () => {
    const waiting: Socket[] = [];
    const asked = (socket: Socket): void => void waiting.push(socket);
    const [one, other] = [await startValidator({ asked }), await startValidator({ asked })];
    const { judge } = await startPlugin();
    const verdict = judge(
      candidateOf(
        maps(12),
        declared('one', one.socketPath, { maxConnections: 32 }),
        declared('other', other.socketPath, { maxConnections: 32 }),
      ),
    );
    await until(() => waiting.length === 16);
    for (let more = 0; more < 20; more++) await turn();
    expect(waiting).toHaveLength(16);
    for (const socket of waiting.splice(0)) socket.write(frame(valid));
    await until(() => waiting.length === 8);
    for (const socket of waiting.splice(0)) socket.write(frame(valid));
    expect((await verdict).kind).toBe('passed');
  });

  test('are closed when nobody used them for 30 s', async () => {
    const clock = fakeClock();
    const validator = await startValidator();
    const { judge } = await startPlugin({ clock });
    const candidate = candidateOf(maps(1), declared('policy', validator.socketPath));
    await judge(candidate);
    await clock.advance(29_000);
    await judge(candidate);
    await clock.advance(29_999);
    expect(validator.open).toBe(1);
    await clock.advance(1);
    await until(() => validator.open === 0);
    expect(validator.connections).toHaveLength(1);
    expect((await judge(candidate)).kind).toBe('passed');
    expect(clock.sleepers).toBe(1);
  });

  test('are closed with the host', async () => {
    const validator = await startValidator();
    const { host, judge } = await startPlugin();
    await judge(candidateOf(maps(8), declared('policy', validator.socketPath)));
    expect(validator.open).toBe(4);
    await host.close();
    await until(() => validator.open === 0);
  });
});

describe('a connection that breaks', () => {
  test('after it was used is tried once more, on a fresh one', async () => {
    const validator = await startValidator({
      asked: (socket, _request, nth) => (nth === 1 ? socket.write(frame(valid)) : socket.destroy()),
    });
    const { judge } = await startPlugin();
    const candidate = candidateOf(maps(1), declared('policy', validator.socketPath));
    for (let run = 0; run < 3; run++) expect((await judge(candidate)).kind).toBe('passed');
    expect(validator.connections).toHaveLength(3);
    expect(validator.requests).toHaveLength(5);
  });

  test('after the validator was started again is no failure', async () => {
    const validator = await startValidator();
    const { judge } = await startPlugin();
    const candidate = candidateOf(maps(6), declared('policy', validator.socketPath));
    expect((await judge(candidate)).kind).toBe('passed');
    await validator.stop();
    const restarted = await startValidator({}, validator.socketPath);
    expect((await judge(candidate)).kind).toBe('passed');
    expect(restarted.requests).toHaveLength(6);
  });

  test('when it is fresh is not tried again', async () => {
    const validator = await startValidator({ asked: (socket) => socket.destroy() });
    const { judge } = await startPlugin();
    const candidate = candidateOf(maps(1), declared('policy', validator.socketPath));
    expect((await judge(candidate)).kind).toBe('interrupted');
    expect(validator.connections).toHaveLength(1);
  });
});

test('work that is called off at any moment leaves nothing behind', async () => {
  const validator = await startValidator();
  const { host, judge } = await startPlugin();
  const candidate = candidateOf(maps(6), declared('policy', validator.socketPath, { maxConnections: 2 }));
  for (let turns = 0; turns < 30; turns++) {
    const abort = new AbortController();
    const verdict = judge(candidate, abort);
    for (let passed = 0; passed < turns; passed++) await turn();
    abort.abort();
    const { kind } = await verdict;
    expect(kind === 'passed' || kind === 'interrupted', `${kind} after ${turns} turns`).toBe(true);
    expect(host.pending()).toEqual([]);
    expect((await judge(candidate)).kind).toBe('passed');
    await until(() => validator.open <= 2);
  }
});

describe('time', () => {
  test('covers the wait for a connection', async () => {
    const clock = fakeClock();
    const validator = await startValidator({ asked: () => undefined });
    const { judge } = await startPlugin({ clock });
    const candidate = candidateOf(maps(1), declared('policy', validator.socketPath, { maxConnections: 1 }));
    const first = judge(candidate);
    await until(() => validator.requests.length === 1);
    await clock.advance(4_000);
    const second = judge(candidate);
    await clock.advance(1_000);
    const reason = 'policy: did not answer within 5 s (asked about maps/0.map)';
    expect(await first).toMatchObject({ kind: 'interrupted', reason });
    await until(() => validator.requests.length === 2, { what: 'the second gets its connection' });
    await clock.advance(4_000);
    expect(await second).toMatchObject({ kind: 'interrupted', reason });
  });

  test('is up for those that wait, too', async () => {
    const validator = await startValidator({ asked: () => undefined });
    const { judge } = await startPlugin();
    const more = { maxConnections: 1, timeoutMs: 100 };
    const verdict = await judge(candidateOf(maps(10), declared('policy', validator.socketPath, more)));
    const reason = 'policy: did not answer within 0.1 s (asked about maps/0.map and 9 more)';
    expect(verdict).toMatchObject({ kind: 'interrupted', reason });
  });

  test('is said to pass while a request is not read', async () => {
    const validator = await startValidator({ connected: (socket) => void socket.pause() });
    const { judge } = await startPlugin();
    const large = { 'maps/0.map': 'x'.repeat(4_000_000) };
    const candidate = candidateOf(large, declared('policy', validator.socketPath, { timeoutMs: 300 }));
    expect(await judge(candidate)).toMatchObject({
      kind: 'interrupted',
      reason:
        'policy: did not answer within 0.3 s, it did not read all of the request (asked about maps/0.map)',
    });
  });
});

describe('an answer that nobody asked for', () => {
  test('is not taken for the answer to the next request', async () => {
    const validator = await startValidator();
    const { judge, log } = await startPlugin();
    const candidate = candidateOf(maps(1), declared('policy', validator.socketPath));
    await judge(candidate);
    validator.connections[0]!.write(frame(answer([place])));
    expect(await judge(candidate)).toMatchObject({
      kind: 'interrupted',
      reason: 'policy: sent more answers than it was asked for, so none of them counts',
    });
    expect(log.records).toHaveLength(1);
    expect((await judge(candidate)).kind).toBe('passed');
    expect(validator.connections).toHaveLength(2);
  });

  test('on an idle connection closes it, and discredits the run that it comes in', async () => {
    const held: Socket[] = [];
    const validator = await startValidator({ asked: (socket) => void held.push(socket) });
    const { judge, log } = await startPlugin();
    const policy = declared('policy', validator.socketPath);
    // Two connections whose answers were read, so that nothing more is expected of them.
    const before = judge(candidateOf(maps(2), policy));
    await until(() => held.length === 2);
    for (const socket of held.splice(0)) socket.write(frame(valid));
    expect(await before).toMatchObject({ kind: 'passed' });

    const verdict = judge(candidateOf(maps(1), policy));
    await until(() => held.length === 1);
    const idle = validator.connections.find((socket) => !held.includes(socket))!;
    idle.write(frame(answer([place])));
    await until(() => log.records.length > 0);
    held[0]!.write(frame(valid));
    expect(await verdict).toMatchObject({
      kind: 'interrupted',
      reason: 'policy: sent more answers than it was asked for, so none of them counts',
    });
    expect(log.records).toMatchObject([
      { level: 'warn', fields: { plugin: 'validator-external', validator: 'policy' } },
    ]);
    await until(() => validator.open === 1);
  });
});

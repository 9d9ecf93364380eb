import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { once } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { systemClock } from '@haptic/core/host';
import { memoryLog } from '@haptic/core/testing';
import { DeferredDeletes } from './deferred-deletes.ts';

const WORKER = { pid: 7, startedAt: 1 };
const IDENTITY = 'Pid: 7\nVersion: 3.4.7\nStart_time_sec: 1\n\nHAPTIC_TEXT=x\n\n';

interface Call {
  readonly line: string;
  readonly socket: Socket;
}

/** A worker's socket that says nothing by itself. */
async function silentWorker(): Promise<{ readonly path: string; readonly calls: readonly Call[] }> {
  const dir = mkdtempSync(join(tmpdir(), 'haptic-deletes-'));
  const path = join(dir, 'worker.sock');
  const calls: Call[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', (line: Buffer) => calls.push({ line: line.toString(), socket }));
  }).listen(path);
  await once(server, 'listening');
  onTestFinished(() => {
    for (const { socket } of calls) socket.destroy();
    server.close();
    rmSync(dir, { recursive: true });
  });
  return { path, calls };
}

/** Deletes of a worker that answers when the test lets it. */
async function deferred() {
  const { path, calls } = await silentWorker();
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const deletes = new DeferredDeletes({
    socket: path,
    clock: systemClock,
    log: memoryLog(),
    signal: stop.signal,
    changed: () => {},
  });
  return { path, calls, deletes };
}

test('a pause lets what is under way end, and nothing begins until it is over', async () => {
  const { calls, deletes } = await deferred();
  deletes.add(WORKER, [{ kind: 'map', map: 'maps/a.map', key: 'one', due: 0 }]);
  await vi.waitFor(() => expect(calls).toHaveLength(1), 5_000);
  calls[0]!.socket.end(IDENTITY);
  await vi.waitFor(() => expect(calls).toHaveLength(2), 5_000);
  expect(calls[1]!.line).toBe('del map maps/a.map one\n');
  const order: string[] = [];
  const paused = deletes.pause().then(() => order.push('paused'));
  await turn();
  order.push('deleted');
  calls[1]!.socket.end('\n');
  await paused;
  expect(order).toEqual(['deleted', 'paused']);
  expect(deletes.names).toEqual([]);

  deletes.add(WORKER, [{ kind: 'map', map: 'maps/a.map', key: 'two', due: 0 }]);
  await deletes.pause();
  expect(calls).toHaveLength(2);
  deletes.resume();
  await vi.waitFor(() => expect(calls).toHaveLength(3), 5_000);
});

test('nothing is deleted while somebody looks at the worker', async () => {
  const { path, calls, deletes } = await deferred();
  const looked = Promise.withResolvers<void>();
  deletes.add(WORKER, []);
  const look = deletes.turns.look(() => looked.promise);
  deletes.add(WORKER, [{ kind: 'server', backend: 'b', name: 's' }]);
  await vi.waitFor(() => expect(calls).toHaveLength(1), 5_000);
  calls[0]!.socket.end(IDENTITY);
  await vi.waitFor(() => expect(calls).toHaveLength(2), 5_000);
  expect(calls[1]!.line).toBe('wait 500ms srv-removable b/s\n');
  calls[1]!.socket.end('Done.\n\n');
  await once(calls[1]!.socket, 'close');
  const other = connect(path, () => other.write('other\n'));
  onTestFinished(() => void other.destroy());
  await vi.waitFor(() => expect(calls.map(({ line }) => line)).toContain('other\n'), 5_000);
  expect(calls).toHaveLength(3);
  looked.resolve();
  await look;
  await vi.waitFor(() => expect(calls.at(-1)!.line).toBe('del server b/s\n'), 5_000);
});

test('a delete that waited for its turn while another worker took over is called off', async () => {
  const { calls, deletes } = await deferred();
  deletes.add(WORKER, []);
  const looked = Promise.withResolvers<void>();
  const { turns } = deletes;
  const look = turns.look(() => looked.promise);
  deletes.add(WORKER, [{ kind: 'map', map: 'm', key: 'k', due: 0 }]);
  await vi.waitFor(() => expect(calls).toHaveLength(1), 5_000);
  calls[0]!.socket.end(IDENTITY);
  await vi.waitFor(async () => expect(await turns.look(async () => 'free')).toBeUndefined(), 5_000);
  deletes.drop();
  looked.resolve();
  await look;
  await turns.change(() => Promise.resolve());
  expect(calls.map(({ line }) => line)).not.toContainEqual(expect.stringContaining('del map'));
  expect(deletes.turns).not.toBe(turns);
});

test('nothing is deleted from another worker that has the same pid', async () => {
  const { calls, deletes } = await deferred();
  deletes.add({ ...WORKER, startedAt: 0 }, [{ kind: 'map', map: 'maps/a.map', key: 'one', due: 0 }]);
  await vi.waitFor(() => expect(calls).toHaveLength(1), 5_000);
  calls[0]!.socket.end(IDENTITY);
  await vi.waitFor(() => expect(deletes.names).toEqual([]), 5_000);
  expect(calls).toHaveLength(1);
});

import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { AgentConnections } from './agent-connections.ts';

type Answer = (count: number, request: IncomingMessage, response: ServerResponse) => void;

/** An agent that treats its n-th request as it is told. */
async function served(
  answer: Answer,
): Promise<{ connections: AgentConnections; readonly count: () => number }> {
  const dir = mkdtempSync(join(tmpdir(), 'haptic-'));
  const socketPath = join(dir, 'agent.sock');
  let count = 0;
  const server = createServer((request, response) => {
    count += 1;
    answer(count, request, response);
  }).listen(socketPath);
  await once(server, 'listening');
  const connections = new AgentConnections({ socketPath }, 1_000);
  onTestFinished(async () => {
    await connections.close();
    server.closeAllConnections();
    server.close();
    rmSync(dir, { recursive: true });
  });
  return { connections, count: () => count };
}

const ask = { method: 'POST', path: '/', body: '{}' } as const;

test('asks once more when a connection was over already', async () => {
  const { connections, count } = await served((nth, request, response) => {
    if (nth === 2) request.socket.destroy();
    else response.end(`{"nth":${nth}}`);
  });
  expect(await connections.request(ask)).toEqual({ status: 200, body: { nth: 1 } });
  expect(await connections.request(ask)).toEqual({ status: 200, body: { nth: 3 } });
  expect(count()).toBe(3);
});

test('asks once more when it ends in the middle of an answer', async () => {
  const { connections } = await served((nth, request, response) => {
    if (nth > 1) response.end('{"nth":2}');
    else response.writeHead(200, { 'content-length': 9 }).write('{"nth"', () => request.socket.destroy());
  });
  expect(await connections.request(ask)).toEqual({ status: 200, body: { nth: 2 } });
});

test('does not ask for ever', async () => {
  const { connections, count } = await served((_, request) => void request.socket.destroy());
  await expect(connections.request(ask)).rejects.toThrow();
  expect(count()).toBe(2);
});

test('takes an error for an answer', async () => {
  const { connections, count } = await served((_, __, response) => response.writeHead(500).end('{}'));
  expect(await connections.request(ask)).toEqual({ status: 500, body: {} });
  expect(count()).toBe(1);
});

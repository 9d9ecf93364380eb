import { once } from 'node:events';
import type { ClientRequest } from 'node:http';
import { Agent, request, type RequestOptions } from 'node:https';
import { join } from 'node:path';
import { runAgent, type RunAgentOptions } from '@haptic/agent';
import type { AgentState, ApplyMessage } from '@haptic/agent/protocol';
import type { Clock } from '@haptic/core/contract';
import { systemClock } from '@haptic/core/host';
import { memoryLog, type MemoryLog } from '@haptic/core/testing';
import { onCleanup } from '../haproxy/cleanup.ts';
import { tempDir } from '../haproxy/temp-dir.ts';
import type { Reply } from './pod.ts';
import type { TlsContents } from './tls-secret.ts';

/** Waits a twentieth of what it is told: what is done every second or after ten is soon done. */
const hastyClock: Clock = {
  ...systemClock,
  sleep: (ms, signal) => systemClock.sleep(ms / 20, signal),
};

export interface TlsAgent {
  readonly port: number;
  readonly log: MemoryLog;
}

/** The real agent, in this process, with TLS on a free port of loopback. */
export async function startTlsAgent(options: Partial<RunAgentOptions>): Promise<TlsAgent> {
  const dir = await tempDir();
  const stop = new AbortController();
  const log = memoryLog();
  const { promise: listening, resolve } = Promise.withResolvers<number>();
  const ended = runAgent({
    baseDir: join(dir, 'base'),
    socketDir: dir,
    version: '1',
    listen: { host: '127.0.0.1', port: 0 },
    log,
    clock: hastyClock,
    watchInterval: 200,
    signal: stop.signal,
    onListening: (address) => resolve('port' in address ? address.port : 0),
    ...options,
  });
  onCleanup(async () => {
    stop.abort();
    // A failed start is the test's own affair.
    await ended.catch(() => {});
  });
  const port = await Promise.race([listening, ended.then(() => 0)]);
  return { port, log };
}

export interface Answer {
  readonly status: number;
  readonly state: AgentState & { readonly error?: string };
}

/** One connection that is kept. */
export function keptConnection(client: Partial<TlsContents>): Agent {
  const agent = new Agent({ ...client, keepAlive: true, maxSockets: 1, maxCachedSessions: 0 });
  onCleanup(() => agent.destroy());
  return agent;
}

/** Asks for the state over TLS. @throws whatever ends the connection. */
export async function ask(port: number, options: RequestOptions, query = ''): Promise<Answer> {
  const { status, body } = await answerTo(asking(port, options, query));
  return { status, state: body as Answer['state'] };
}

/** Sends an apply over TLS. */
export async function send(port: number, client: RequestOptions, message: ApplyMessage): Promise<Reply> {
  const headers = { 'content-type': 'application/json' };
  const call = asking(port, { ...client, method: 'POST', path: '/v1/apply', headers });
  return (await answerTo(call, JSON.stringify(message))) as Reply;
}

async function answerTo(call: ClientRequest, message?: string): Promise<{ status: number; body: unknown }> {
  call.end(message);
  const [response] = (await once(call, 'response')) as [AsyncIterable<Buffer> & { statusCode: number }];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  return { status: response.statusCode, body: JSON.parse(Buffer.concat(chunks).toString()) };
}

export function asking(port: number, options: RequestOptions, query = ''): ClientRequest {
  return request({
    host: '127.0.0.1',
    port,
    path: `/v1/state?${query}`,
    servername: 'haptic-agent',
    agent: false,
    ...options,
  });
}

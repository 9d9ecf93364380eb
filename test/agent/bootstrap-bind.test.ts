import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { expect, test } from 'vitest';
import { onCleanup } from '../haproxy/cleanup.ts';
import { freePort } from '../haproxy/free-port.ts';
import { request } from '../haproxy/raw-request.ts';
import { until } from '../haproxy/until.ts';
import { forEachVersion, versionsOfOwnLogic } from '../haproxy/versions.ts';
import { Pod } from './pod.ts';

async function holder(port: number): Promise<Server> {
  const server = createServer().listen(port, '127.0.0.1');
  onCleanup(() => void server.close());
  await once(server, 'listening');
  return server;
}

function times(text: string, word: string): number {
  return text.split(word).length - 1;
}

forEachVersion(({ binary }) => {
  test('a bootstrap address in use is named once, and HAProxy starts when it is free', async () => {
    const pod = await Pod.create(binary);
    const port = await freePort();
    const other = await holder(port);
    const startedAt = performance.now();
    const program = pod.spawnHaproxy({ 'bootstrap-bind': `127.0.0.1:${port}` });
    const problem = `cannot bind 127.0.0.1:${port}: another process holds the address`;
    await until(() => program.output().includes(problem), { deadlineMs: 60_000 });
    // Several looks later, with pauses that grow, nothing more has been said or tried.
    const before = program.output();
    await until(() => performance.now() - startedAt > 4_000, { deadlineMs: 60_000, what: 'some rounds' });
    expect(program.output()).toBe(before);
    expect(times(before, 'HAProxy did not start')).toBe(1);
    await new Promise((resolve) => void other.close(resolve));
    await until(() => program.output().includes('HAProxy serves'), { deadlineMs: 60_000 });
    expect((await request(port)).status).toBe(503);
    expect(times(program.output(), problem)).toBe(1);
  });
}, versionsOfOwnLogic);

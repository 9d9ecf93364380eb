import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { freePort } from './free-port.ts';
import { origin, seenBy } from './origin.ts';
import { noProcesses, processesIn } from './processes.ts';
import { rawRequest, request } from './raw-request.ts';
import { runtimeCommand } from './runtime-command.ts';
import { startHaproxy, type RunningHaproxy } from './start-haproxy.ts';
import { tempDir } from './temp-dir.ts';
import { traffic } from './traffic.ts';
import { until } from './until.ts';
import { forEachVersion, type Haproxy } from './versions.ts';

interface Started {
  readonly dir: string;
  readonly port: number;
  readonly running: RunningHaproxy;
}

async function proxy({ binary }: Haproxy, mode: 'master-worker' | 'plain'): Promise<Started> {
  const dir = await tempDir();
  const port = await freePort();
  const server = await origin('one');
  const config = `defaults
  mode http
  timeout connect 5s
  timeout client 10s
  timeout server 10s
frontend in
  bind 127.0.0.1:${port}
  default_backend out
backend out
  server one 127.0.0.1:${server.port}
`;
  await writeFile(join(dir, 'haproxy.cfg'), config);
  return { dir, port, running: await startHaproxy({ binary, dir, mode, ports: [port] }) };
}

forEachVersion((haproxy) => {
  test('a proxied request shows what the origin saw', async () => {
    const { port } = await proxy(haproxy, 'plain');
    const response = await request(port, { path: '/a?b=c', host: 'app.example', headers: { 'x-Odd': '1' } });
    expect(response.status).toBe(200);
    expect(seenBy(response)).toMatchObject({ origin: 'one', method: 'GET', path: '/a?b=c' });
    expect(seenBy(response).headers).toContainEqual(['host', 'app.example']);
  });

  test('bytes go out as they are, and a refusal is an answer', async () => {
    const { port } = await proxy(haproxy, 'plain');
    expect((await rawRequest(port, 'GET / HTTP/1.1\r\nhost: a\r\nbad header\r\n\r\n')).status).toBe(400);
  });

  test('traffic counts requests and, once HAProxy is gone, failures', async () => {
    const { port, running } = await proxy(haproxy, 'master-worker');
    const load = traffic({ port });
    await until(() => load.report().requests > 20);
    expect(load.report().failures).toEqual([]);
    await running.stop();
    await until(() => load.report().failed > 0);
  });

  test('a stopped master leaves no process', async () => {
    const { dir, running } = await proxy(haproxy, 'master-worker');
    expect(await runtimeCommand(running.masterSocket, 'show proc')).toContain('worker');
    expect((await processesIn(dir)).length).toBe(2);
    await running.stop();
    await noProcesses(dir);
  });

  test('a configuration that fails is an error with its words', async () => {
    const dir = await tempDir();
    await writeFile(join(dir, 'haproxy.cfg'), 'frontend in\n  bogus\n');
    await expect(startHaproxy({ binary: haproxy.binary, dir })).rejects.toThrow(/unknown keyword 'bogus'/);
  });
});

test('until says what it waited for', async () => {
  await expect(until(() => false, { deadlineMs: 5, what: 'the moon' })).rejects.toThrow(
    /the moon: not met within 5 ms/,
  );
});

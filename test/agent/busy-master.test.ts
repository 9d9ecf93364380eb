import { writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { reload } from '../../agent/src/haproxy/reload.ts';
import { systemClock } from '@haptic/core/host';
import { freePort } from '../haproxy/free-port.ts';
import { startHaproxy } from '../haproxy/start-haproxy.ts';
import { tempDir } from '../haproxy/temp-dir.ts';
import { forEachVersion } from '../haproxy/versions.ts';

const ROUNDS = 6;

/** Enough backends that loading takes a while. */
async function configuration(socket: string): Promise<string> {
  const backends = Array.from({ length: 3_000 }, (_, at) => `backend b${at}\n  server s 127.0.0.1:1\n`);
  return `global
  stats socket ${socket} level admin
  hard-stop-after 5s
defaults
  mode http
  timeout client 5s
  timeout connect 5s
  timeout server 5s
frontend http
  bind 127.0.0.1:${await freePort()}
${backends.join('')}`;
}

/** Asks for a reload, and waits for no answer. */
async function askToReload(master: string): Promise<Socket> {
  const socket = connect({ path: master });
  socket.on('error', () => undefined);
  await new Promise((resolve) => socket.write('reload\n', resolve));
  return socket;
}

forEachVersion(({ binary }) => {
  test('a reload comes through while the master loads for somebody else', { timeout: 60_000 }, async () => {
    const dir = await tempDir();
    const worker = join(dir, 'worker.sock');
    await writeFile(join(dir, 'haproxy.cfg'), await configuration(worker));
    const { masterSocket: master } = await startHaproxy({ binary, dir });
    const { signal } = new AbortController();
    for (let round = 0; round < ROUNDS; round++) {
      const rival = await askToReload(master);
      // One that was killed is gone; one that lives waits.
      if (round % 2 === 0) rival.destroy();
      const result = await reload({
        sockets: { master, worker },
        textId: '',
        timeoutMs: 8_000,
        clock: systemClock,
        signal,
      });
      expect(result.kind, JSON.stringify(result)).toBe('loaded');
      rival.destroy();
    }
  });
});

import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { blocks, exchange } from './exchange.ts';

async function socketServer(answer: (socket: Socket) => void): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), 'haptic-exchange-'));
  const path = join(dir, 's.sock');
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    answer(socket);
  }).listen(path);
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of open) socket.destroy();
    server.close();
    rmSync(dir, { recursive: true });
  });
  return path;
}

test('reads until the end, and says why there was none', async () => {
  const echo = await socketServer((socket) =>
    socket.once('data', (line) => socket.end(`<${line.toString()}>`)),
  );
  expect(await exchange(echo, 'a; b', { timeoutMs: 5_000 })).toBe('<a; b\n>');
  const silent = await socketServer(() => {});
  await expect(exchange(silent, 'x', { timeoutMs: 30 })).rejects.toThrow('no answer within 30 ms');
  await expect(exchange(silent, 'x', { timeoutMs: 5_000, signal: AbortSignal.abort() })).rejects.toThrow(
    'called off',
  );
  await expect(exchange(`${silent}x`, 'x', { timeoutMs: 5_000 })).rejects.toThrow('ENOENT');
  const endless = await socketServer((socket) => socket.write('x'.repeat(100)));
  await expect(exchange(endless, 'x', { timeoutMs: 5_000, maxBytes: 99 })).rejects.toThrow(
    'more than 99 bytes',
  );
});

test('one block a command, empty ones too', () => {
  expect(blocks('a\nb\n\n\n\nc\n\n')).toEqual(['a\nb', '', '', 'c']);
  expect(blocks('\n')).toEqual(['']);
  expect(blocks('\n\n')).toEqual(['', '']);
  expect(blocks('')).toEqual([]);
  expect(blocks('a\n\nhalf a')).toEqual(['a']);
  expect(blocks('a\n\nan error without its end\n')).toEqual(['a']);
});

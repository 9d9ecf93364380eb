import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fastify from 'fastify';
import { expect, onTestFinished, test } from 'vitest';
import { checkAddress, listen } from './listen.ts';

test.each(['127.0.0.1', '127.8.8.8', '::1', 'localhost'])('without TLS %s will do', (host) => {
  expect(() => checkAddress({ host, port: 1 }, false)).not.toThrow();
});

test.each(['0.0.0.0', '::', '10.0.0.1', 'example.com', '127.0.0.1.example.com'])(
  'without TLS %s is refused, with it is fine',
  (host) => {
    expect(() => checkAddress({ host, port: 1 }, false)).toThrow(
      'is not a loopback address: without TLS expected',
    );
    expect(() => checkAddress({ host, port: 1 }, true)).not.toThrow();
  },
);

test('TLS is for one address of the network', () => {
  expect(() => checkAddress({ host: 'localhost', port: 1 }, true)).toThrow('expected an address with TLS');
  expect(() => checkAddress({ socketPath: '/run/a.sock' }, true)).toThrow('needs no TLS');
  expect(() => checkAddress({ socketPath: '/run/a.sock' }, false)).not.toThrow();
});

test('a socket that no address can name is refused', () => {
  const socketPath = `/run/${'x'.repeat(103)}`;
  expect(() => checkAddress({ socketPath }, false)).toThrow(`${socketPath}: is too long for a socket`);
  expect(() => checkAddress({ socketPath: socketPath.slice(0, -1) }, false)).not.toThrow();
});

test('what stands at the path of a socket and is none stays', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'haptic-listen-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  const [file, folder, link] = [join(dir, 'file'), join(dir, 'folder'), join(dir, 'link')];
  writeFileSync(file, 'kept');
  mkdirSync(folder);
  symlinkSync(file, link);
  for (const socketPath of [file, folder, link])
    await expect(listen(fastify(), { socketPath })).rejects.toThrow(`${socketPath}: is there and no socket`);
  expect(readFileSync(link, 'utf8')).toBe('kept');
});

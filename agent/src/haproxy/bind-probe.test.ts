import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { endpointOf, probeBinds } from './bind-probe.ts';

test.each([
  ['127.0.0.1:8080', { host: '127.0.0.1', port: 8080 }],
  ['ipv4@10.0.0.1:80', { host: '10.0.0.1', port: 80 }],
  [':80', { host: '0.0.0.0', port: 80 }],
  ['*:80', { host: '0.0.0.0', port: 80 }],
  ['[::1]:443', { host: '::1', port: 443 }],
  ['[::]:443', { host: '::', port: 443 }],
  [':::443', { host: '::', port: 443 }],
  ['ipv6@*:443', { host: '::', port: 443 }],
  ['unix@/run/x.sock', undefined],
  ['/run/x.sock', undefined],
  ['quic4@:443', undefined],
  ['fd@3', undefined],
  [':8000-8010', undefined],
  ['"${ADDRESS}:80"', undefined],
  ['localhost:80', undefined],
  [':0', undefined],
  [':65536', undefined],
])('%s', (address, endpoint) => {
  expect(endpointOf(address)).toEqual(endpoint);
});

test('an address in use is told, unless HAProxy itself has it', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const address = `127.0.0.1:${port}`;
  expect(await probeBinds(['unix@/x', address], [])).toBe(
    `cannot bind ${address}: another process holds the address`,
  );
  expect(await probeBinds([address], [address])).toBeUndefined();
  expect(await probeBinds([address], [`*:${port}`])).toBeUndefined();
  expect(await probeBinds([address], [`127.0.0.2:${port}`])).toContain('another process');
  expect(await probeBinds(['192.0.2.1:8080'], [])).toContain('this machine does not have the address');
});

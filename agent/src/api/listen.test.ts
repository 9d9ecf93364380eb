import { expect, test } from 'vitest';
import { checkAddress } from './listen.ts';

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

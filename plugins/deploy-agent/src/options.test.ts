import { expect, test } from 'vitest';
import { optionsSchema } from './options.ts';

const pod = { name: 'a', socketPath: '/run/a.sock', tokenFile: '/t' };

test('fills in what is left out', () => {
  expect(optionsSchema.parse({ mode: 'static', pods: [pod] })).toMatchObject({
    applyTimeout: 60_000,
    poll: 20_000,
  });
  expect(optionsSchema.parse({ mode: 'static' })).toMatchObject({ pods: [] });
  expect(optionsSchema.parse({ mode: 'local', spawn: { command: 'node' } })).toMatchObject({
    haproxy: 'haproxy',
    reloadIntervalMin: 0,
    spawn: { args: [] },
  });
});

const remote = { name: 'a', url: 'https://10.0.0.1:5555' };
const tls = { cert: '/c', key: '/k', ca: '/a' };

test('an agent beyond this machine is spoken to with TLS, with or without a token', () => {
  expect(optionsSchema.parse({ mode: 'static', pods: [remote], tls })).toMatchObject({
    tls: { ...tls, agentName: 'haptic-agent' },
  });
  expect(optionsSchema.parse({ mode: 'static', pods: [{ ...remote, tokenFile: '/t' }], tls })).toBeDefined();
});

test.each([
  [{ mode: 'static', pods: [remote] }, 'expected certificates'],
  [{ mode: 'static', pods: [{ name: 'a', socketPath: '/run/a.sock' }], tls }, 'expected a `tokenFile`'],
  [{ mode: 'static', pods: [{ name: 'a', url: 'http://127.0.0.1:1' }], tls }, 'expected a `tokenFile`'],
  [{ mode: 'static', pods: [{ ...remote, url: 'https://' }], tls }, 'https://'],
  [{ mode: 'static', pods: [remote], tls: { cert: '/c', key: '/k' } }, 'ca'],
  [{ mode: 'static', pods: [pod, pod] }, 'different names'],
  [{ mode: 'static', pods: [{ ...pod, url: 'http://127.0.0.1:1' }] }, 'either `url` or `socketPath`'],
  [{ mode: 'static', pods: [{ name: 'a', tokenFile: '/t', url: 'http://10.0.0.1:5555' }] }, 'loopback'],
  [
    { mode: 'static', pods: [{ name: 'a', tokenFile: '/t', url: 'http://127.0.0.1.example:5555' }] },
    'loopback',
  ],
  [{ mode: 'static', pods: [{ ...pod, socketPath: 'run/a.sock' }] }, 'absolute'],
  [{ mode: 'local', spawn: { command: 'node' }, haproxi: 'x' }, 'haproxi'],
])('%j is refused', (options, words) => {
  expect(optionsSchema.safeParse(options).error?.message).toContain(words);
});

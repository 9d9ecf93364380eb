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

test.each([
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

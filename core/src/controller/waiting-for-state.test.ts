import { expect, it } from 'vitest';
import { definePlugin, Retry, STATE_STORE, z, type StateStore } from '../contract/index.ts';
import { controllerRig, rigSpec } from '../testing/controller-rig.ts';
import { createController } from './create-controller.ts';

const away: StateStore = {
  read: () => Promise.reject(new Retry('/state/quarantine cannot be read: EACCES')),
  write: () => Promise.resolve(),
};

it('who waits for what was kept says so, and begins when it is there', async () => {
  const store = { ...away };
  const plugin = definePlugin({
    name: 'store',
    apiVersion: 1,
    options: z.strictObject({}),
    setup: ({ provide }) => provide(STATE_STORE, store),
  });
  await using rig = await controllerRig(
    ({ source }) => void (source.spec = rigSpec('{% profiles %}\n')),
    (options) => createController({ ...options, plugins: [...options.plugins, { plugin }] }),
  );
  const status = () => rig.controller.status();
  expect(status()).toMatchObject({
    phase: 'waiting',
    problem: { message: 'kept state cannot be read: /state/quarantine cannot be read: EACCES' },
  });
  store.read = () => Promise.resolve(undefined);
  await rig.clock.advance(1_000);
  await rig.settle();
  expect(status()).toMatchObject({ phase: 'serving' });
  expect(status().problem).toBeUndefined();
});

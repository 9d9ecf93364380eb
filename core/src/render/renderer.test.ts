import { expect, test } from 'vitest';
import type { RenderInput } from '../contract/index.ts';
import { sha256 } from '../controller/sha256.ts';
import { backend, base, profiles, renderOutput, server } from '../testing/render-output.ts';
import { fakeClock } from '../testing/fake-clock.ts';
import { templateConfig } from '../testing/templates.ts';
import { Renderer } from './renderer.ts';

const pieces = [base, profiles, backend('b', { servers: [server('s')] })];

test.each([
  ['3.2.26', 2],
  ['3.4.7', 0],
  ['3.4-dev12-1', 0],
  ['4.0.0', 0],
])('%s is rendered with %i spare backends', async (haproxyVersion, count) => {
  const config = templateConfig({ maps: { spares: {} }, settings: { spareBackends: 2 } });
  const paths = { base: '/base', workerSocket: '/run/worker.sock' };
  const input = { config, view: {}, fleet: { haproxyVersion, paths } } as unknown as RenderInput;
  const renderer = new Renderer(
    () => ({ render: async () => renderOutput({ pieces }) }),
    sha256,
    fakeClock(),
  );
  renderer.prepare(config, []);
  const signal = new AbortController().signal;
  const { plan } = await renderer.render(input, { signal, caller: 'reconcile' });
  const spares = Object.values(plan.backends).filter(({ spareFor }) => spareFor !== undefined);
  expect(spares).toHaveLength(count);
});

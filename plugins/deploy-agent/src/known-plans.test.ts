import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { RenderPlan } from '@haptic/core/contract';
import type { StoredPlan } from '@haptic/agent/protocol';
import { KnownPlans } from './known-plans.ts';
import { PlanChunks } from './plan-chunks.ts';

const id = 'a'.repeat(64);

const plan: RenderPlan = {
  schema: 1,
  id,
  releaseId: id,
  textId: id,
  sections: [],
  profiles: { 'be-1': { digest: id, base: 'http' } },
  backends: {},
  maps: {
    'maps/host.map': { match: 'str', layer: 'host', secret: false, entries: [['k', 'v']], digest: id },
  },
  crtLists: {},
  certificates: {},
  caFiles: {},
  binds: [],
  files: [],
  k8sResources: [],
  statuses: [],
  events: [],
};

function stored(of: RenderPlan): StoredPlan {
  const chunks = new PlanChunks().of(of);
  return {
    chunks: chunks.map(({ digest }) => digest),
    data: Object.fromEntries(chunks.map(({ digest, bytes }) => [digest, bytes.toString('base64')])),
  };
}

test('all pods with the same plan share it', () => {
  const plans = new KnownPlans();
  const read = plans.read(stored(plan), id);
  expect(read).toEqual(plan);
  expect(plans.read(stored(plan), id)).toBe(read);
});

test('what one agent makes of a plan is nobody else’s', () => {
  const plans = new KnownPlans();
  const honest = stored(plan);
  const forged = stored({ ...plan, profiles: {} });
  // The digests of the one, the contents of the other.
  const data = Object.fromEntries(
    honest.chunks.map((digest, index) => [
      digest,
      forged.data[forged.chunks[index]!] ?? honest.data[digest]!,
    ]),
  );
  plans.read({ chunks: honest.chunks, data }, id);
  expect(plans.read(honest, id)).toEqual(plan);
  expect(plans.read(stored({ ...plan, maps: {} }), id)).toMatchObject({ maps: {} });
  expect(plans.read(honest, id)).toEqual(plan);
});

test('what this process sends it knows, the last ones at least', () => {
  const plans = new KnownPlans();
  const ids = Array.from({ length: 20 }, (_, index) => `plan ${index}`);
  for (const one of ids) plans.sent({ ...plan, id: one });
  expect(ids.filter((one) => plans.byId(one) !== undefined)).toEqual(ids.slice(-8));
});

test('few agents send whole plans at once, also when some of it fails', async () => {
  const plans = new KnownPlans();
  let running = 0;
  let most = 0;
  const works = Array.from({ length: 30 }, (_, index) =>
    plans.reading(async () => {
      running += 1;
      most = Math.max(most, running);
      await setImmediate();
      running -= 1;
      if (index % 3 === 0) throw new Error('no answer');
    }),
  );
  const ends = await Promise.allSettled(works);
  expect(ends.filter(({ status }) => status === 'rejected')).toHaveLength(10);
  expect(most).toBe(4);
});

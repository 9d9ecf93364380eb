import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { RenderPlan } from '@haptic/core/contract';
import { PlanChunks } from './plan-chunks.ts';
import { readStoredPlan } from './plan-schema.ts';

const id = 'a'.repeat(64);

function planOf(names: readonly string[], entries: readonly (readonly [string, string])[]): RenderPlan {
  const digest = id;
  return {
    schema: 1,
    id,
    releaseId: id,
    textId: id,
    sections: names.map((name) => ({
      kind: 'backend',
      name,
      digest,
      length: 1,
      provenance: { snippet: 'm', source: 's', line: 1, objects: [] },
    })),
    profiles: {},
    backends: {},
    maps: { 'maps/m.map': { match: 'str', layer: 'host', secret: false, entries, digest } },
    crtLists: {},
    certificates: Object.fromEntries(names.map((name) => [name, { digest }])),
    caFiles: {},
    binds: [],
    files: [],
    k8sResources: [],
    statuses: [],
    events: [],
  };
}

function joined(chunks: ReturnType<PlanChunks['of']>): RenderPlan | undefined {
  const data = Object.fromEntries(chunks.map(({ digest, bytes }) => [digest, bytes.toString('base64')]));
  return readStoredPlan({ chunks: chunks.map(({ digest }) => digest), data }, id);
}

test('whatever plans follow each other, each can be put together again, and is cut as without the others', () => {
  const name = fc.stringMatching(/^[a-z]{1,3}$/);
  const plan = fc
    .tuple(fc.uniqueArray(name, { maxLength: 120 }), fc.array(fc.tuple(name, name), { maxLength: 120 }))
    .map(([names, entries]) => planOf(names, entries));
  fc.assert(
    fc.property(fc.array(plan, { minLength: 1, maxLength: 4 }), (plans) => {
      const chunks = new PlanChunks();
      for (const next of plans) {
        const cut = chunks.of(next);
        expect(joined(cut)).toEqual(next);
        expect(cut.map(({ digest }) => digest)).toEqual(
          new PlanChunks().of(next).map(({ digest }) => digest),
        );
      }
    }),
    { numRuns: 30 },
  );
});

test('rows that come twice are there twice', () => {
  const names = Array.from({ length: 200 }, (_, index) => `h${index}`);
  const twice = [...names, ...names].map((name) => [name, 'a'] as const);
  const plan = planOf([], twice);
  expect(joined(new PlanChunks().of(plan))).toEqual(plan);
});

test('one more of thousands changes a few chunks', () => {
  const names = Array.from({ length: 3_000 }, (_, index) => `backend-${index}`);
  const entries = names.map((name) => [`${name}.test`, name] as const);
  const chunks = new PlanChunks();
  const before = new Set(chunks.of(planOf(names, entries)).map(({ digest }) => digest));
  const next = chunks.of(
    planOf(names.toSpliced(1_500, 0, 'new'), entries.toSpliced(700, 0, ['new.test', 'new'])),
  );
  expect(before.size).toBeGreaterThan(100);
  expect(next.filter(({ digest }) => !before.has(digest)).length).toBeLessThanOrEqual(6);
});

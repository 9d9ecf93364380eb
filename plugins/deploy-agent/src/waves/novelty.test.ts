import { expect, test } from 'vitest';
import type { Backend, Operation, RenderPlan } from '@haptic/core/contract';
import { kindsOf } from './novelty.ts';

const planOf = (profiles: Readonly<Record<string, string>>): RenderPlan => {
  const backends = Object.entries(profiles).map(([name, profile]) => [name, { profile } as Backend]);
  return { backends: Object.fromEntries(backends) as RenderPlan['backends'] } as RenderPlan;
};

test('a kind is what is done, and to what profile', () => {
  const ops: Operation[] = [
    { op: 'backend.add', name: 'shop', profile: 'web', mode: 'http', guid: '', servers: [] },
    { op: 'backend.del', name: 'old', servers: [] },
    { op: 'server.set', backend: 'shop', name: 's', weight: 1 },
    { op: 'server.set', backend: 'api', name: 's', weight: 1 },
    { op: 'server.del', backend: 'toString', name: 's' },
    { op: 'map.add', map: 'maps/a.map', key: 'k', value: 'v' },
    { op: 'map.add', map: 'maps/b.map', key: 'k', value: 'v' },
  ];
  const kinds = kindsOf(ops, {
    next: planOf({ shop: 'web', api: 'web' }),
    before: planOf({ old: 'tcp', shop: 'other' }),
  });
  expect(kinds).toEqual(['backend.add web', 'backend.del tcp', 'server.set web', 'server.del ', 'map.add']);
});

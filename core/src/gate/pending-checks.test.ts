import { expect, it } from 'vitest';
import type { Pod } from '../contract/index.ts';
import { PendingChecks, type Unjudged } from './pending-checks.ts';

const release = (id: string): Unjudged =>
  ({ deferred: { candidate: { rendered: { plan: { id } } } } }) as unknown as Unjudged;

it('forgets what nobody has, however much is newer, but nothing that a pod has or is being sent', () => {
  let pods: readonly Pod[] = [{ name: 'a', ops: [], applied: 'reported' }];
  const checks = new PendingChecks(
    () => pods,
    () => ['sent'],
  );
  for (const id of ['reported', 'sent', 'gone']) checks.add(release(id));
  for (let at = 0; at < 100; at += 1) checks.add(release(`newer ${at}`));
  expect(['reported', 'sent', 'gone'].map((id) => checks.get(id) !== undefined)).toEqual([true, true, false]);
  // Its apply took its time, and now it is there.
  pods = [{ name: 'a', ops: [], applied: 'sent' }];
  expect(checks.planIds).toEqual(['sent', 'newer 99']);
});

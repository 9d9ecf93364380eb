import { expect, test } from 'vitest';
import { forEachVersion } from '../haproxy/versions.ts';
import { applyOf, planIdOf, type Files } from './plan.ts';
import { Pod } from './pod.ts';

interface Accepted {
  readonly epoch: number;
  readonly expect: string | null;
  readonly planId: string;
  readonly generation: number;
}

/** Writes as fast as it can, from whatever is in place, until it has had its turns or is told to stand down. */
async function controller(
  pod: Pod,
  { name, epoch }: { name: string; epoch: number },
): Promise<readonly Accepted[]> {
  const accepted: Accepted[] = [];
  for (let seq = 1; accepted.length < 20; seq += 1) {
    const { applied } = await pod.state('plan=0');
    const files: Files = pod.site('shared', { map: `${name}-${seq}` });
    const message = applyOf(files, {
      token: { epoch, seq },
      expect: applied,
      mode: seq % 4 === 0 ? 'reload' : 'auto',
    });
    const { status, body } = await pod.apply(message);
    if (status === 409 && body.reason === 'stale_epoch') return accepted;
    if (status === 409) continue;
    expect(status, JSON.stringify(body)).toBe(200);
    accepted.push({ epoch, expect: applied, planId: planIdOf(files), generation: body.generation });
  }
  return accepted;
}

forEachVersion(({ binary }) => {
  test('of controllers that write at once each apply follows one other, and the older ones stand down', async () => {
    const pod = await Pod.create(binary);
    await pod.startHaproxy();
    await pod.startAgent();
    const first = pod.site('shared', { map: 'first' });
    await pod.apply(applyOf(first, { token: { epoch: 1, seq: 1 } }));
    const all = await Promise.all([
      controller(pod, { name: 'a', epoch: 2 }),
      controller(pod, { name: 'b', epoch: 3 }),
      controller(pod, { name: 'c', epoch: 3 }),
    ]);
    const chain = all.flat().toSorted((a, b) => a.generation - b.generation);
    let [before, epoch]: [string, number] = [planIdOf(first), 1];
    for (const { expect: from, ...link } of chain) {
      // Whoever was accepted saw what the one before had put in place.
      expect([from, link.epoch >= epoch], JSON.stringify(chain)).toEqual([before, true]);
      [before, epoch] = [link.planId, link.epoch];
    }
    expect(new Set(chain.map(({ generation }) => generation)).size).toBe(chain.length);
    expect(all[1].length + all[2].length).toBeGreaterThanOrEqual(20);
    expect(await pod.state('verify=1')).toMatchObject({ applied: before, inStep: true, drift: [] });
  });
});

import { expect, test } from 'vitest';
import { request } from '../haproxy/raw-request.ts';
import { forEachVersion } from '../haproxy/versions.ts';
import { applyOf, planIdOf } from './plan.ts';
import { Pod } from './pod.ts';

forEachVersion(({ binary }) => {
  test('a reload that takes too long is no verdict, and the same plan may pass the next time', async () => {
    const pod = await Pod.create(binary);
    await pod.startHaproxy();
    const agent = await pod.startAgent();
    const good = pod.site('good');
    expect((await pod.apply(applyOf(good))).body.outcome).toBe('reload');
    await agent.kill('SIGTERM');

    const hasty = await pod.startAgent({ 'reload-timeout': '1' });
    const wanted = applyOf(pod.site('two'), { token: { epoch: 1, seq: 2 }, expect: planIdOf(good) });
    const { body } = await pod.apply(wanted);
    expect(body).toMatchObject({ outcome: 'rejected', stage: 'no_verdict', rolledBack: true });
    expect(body.message).toContain('no verdict from HAProxy');
    await hasty.kill('SIGTERM');

    await pod.startAgent();
    const again = { ...wanted, token: { epoch: 1, seq: 3 } };
    expect((await pod.apply(again)).body).toMatchObject({ outcome: 'reload' });
  });

  test('a worker that loaded another text than was sent is not taken for the new one', async () => {
    const pod = await Pod.create(binary);
    await pod.startHaproxy();
    await pod.startAgent();
    const good = pod.site('good');
    await pod.apply(applyOf(good));
    const wanted = { token: { epoch: 1, seq: 2 }, expect: planIdOf(good), textId: 'f'.repeat(64) };
    const { body } = await pod.apply(applyOf(pod.site('two'), wanted));
    expect(body).toMatchObject({ outcome: 'rejected', stage: 'no_verdict', rolledBack: true });
    expect(body.message).toMatch(/the new worker loaded text [0-9a-f]{64}, expected f{64}/);
    expect(await pod.tree()).toEqual(good);
    expect((await request(pod.port)).body.toString()).toBe('good one');
    expect(await pod.state('verify=1')).toMatchObject({
      applied: planIdOf(good),
      running: planIdOf(good),
      lkg: planIdOf(good),
      inStep: true,
      drift: [],
    });
  });
});

import { expect, test } from 'vitest';
import { request } from '../haproxy/raw-request.ts';
import { forEachVersion } from '../haproxy/versions.ts';
import { traffic } from '../haproxy/traffic.ts';
import { applyOf, planIdOf } from './plan.ts';
import { Pod } from './pod.ts';

const text = async (pod: Pod): Promise<string> => (await request(pod.port)).body.toString();

forEachVersion(({ binary, minor }) => {
  test('loads what is sent, and reports it', async () => {
    const pod = await Pod.create(binary);
    await pod.startHaproxy();
    await pod.startAgent();
    expect(await pod.state()).toMatchObject({
      applied: null,
      inStep: true,
      lkg: null,
      files: expect.anything(),
    });

    const files = pod.site('first');
    const { status, body } = await pod.apply(applyOf(files));
    expect({ status, ...body }).toMatchObject({ status: 200, outcome: 'reload', planId: planIdOf(files) });
    expect(await text(pod)).toBe('first one');
    expect(await pod.tree()).toEqual(files);
    const state = await pod.state('verify=1');
    const id = planIdOf(files);
    expect(state).toMatchObject({
      applied: id,
      running: id,
      lkg: id,
      inStep: true,
      generation: 1,
      drift: [],
    });
    expect(state.haproxyVersion).toMatch(new RegExp(`^${minor}\\.`));
  });

  test('a refused reload keeps serving and answers with the words of HAProxy', async () => {
    const pod = await Pod.create(binary);
    await pod.startHaproxy();
    await pod.startAgent();
    const good = pod.site('good');
    await pod.apply(applyOf(good));
    const load = traffic({ port: pod.port });
    const bad = pod.site('bad', { extra: 'bogus directive' });
    const { body } = await pod.apply(applyOf(bad, { token: { epoch: 1, seq: 2 }, expect: planIdOf(good) }));
    expect(body).toMatchObject({
      outcome: 'rejected',
      stage: 'reload',
      rolledBack: true,
      planId: planIdOf(good),
    });
    expect(body.message).toMatch(/unknown keyword 'bogus'/);
    expect(await pod.tree()).toEqual(good);
    expect(await text(pod)).toBe('good one');
    expect((await load.stop()).failures).toEqual([]);
    expect(await pod.state()).toMatchObject({ applied: planIdOf(good), inStep: true, lkg: planIdOf(good) });
  });

  test('no request fails over reloads', async () => {
    const pod = await Pod.create(binary);
    await pod.startHaproxy();
    await pod.startAgent();
    let before: string | null = null;
    let load: ReturnType<typeof traffic> | undefined;
    const reloads = process.env['HAPTIC_SOAK'] === '1' ? 200 : 20;
    for (let seq = 1; seq <= reloads; seq += 1) {
      const files = pod.site(`v${seq}`);
      const { body } = await pod.apply(applyOf(files, { token: { epoch: 1, seq }, expect: before }));
      expect(body).toMatchObject({ outcome: 'reload' });
      expect(await text(pod)).toBe(`v${seq} one`);
      load ??= traffic({ port: pod.port });
      before = planIdOf(files);
    }
    const report = await load?.stop();
    expect(report).toMatchObject({ failed: 0, failures: [] });
    // The applied one, the one before, a spare one and the bootstrap configuration.
    expect((await pod.trees()).length).toBeLessThanOrEqual(4);
  });
});

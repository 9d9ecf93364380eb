import { expect, test } from 'vitest';
import { isSupportedBy } from '@haptic/core/contract';
import { forEachVersion } from '../haproxy/versions.ts';
import { authorityOf, pemFor } from './certificates.ts';
import { runningPod } from './running-pod.ts';
import { coldDump, workerDump } from './worker-dump.ts';
import type { CrtLine, World } from './world.ts';

const line = (certificate: string, sni: readonly string[], options = ''): CrtLine => ({
  certificate,
  options,
  sni,
});

forEachVersion(({ binary }) => {
  test('of lines of one name the first one goes on serving, whatever changes', async () => {
    const { pod, deployer } = await runningPod(binary);
    const roots = await Promise.all([authorityOf('one'), authorityOf('two')]);
    const clients = roots.map(({ client }) => client);
    const canSetAuthorities = isSupportedBy((await pod.state()).haproxyVersion ?? '', 'ca.set');
    const texts = async (name: string): Promise<readonly [string, string]> =>
      await Promise.all([pemFor(name), pemFor(name)]);
    const [d, a, b, c] = [await texts('d.test'), await texts('x'), await texts('x'), await texts('x')];
    const verify = 'verify optional ca-file ca/root.pem';
    let world: World = {
      backends: {},
      hosts: {},
      certificates: { d: d[0], a: a[0], b: b[0], c: c[0] },
      authorities: { root: roots[0].pem },
      crtLines: [
        line('d', ['d.test'], 'alpn h2'),
        line('a', ['ab.test'], 'alpn h2'),
        line('b', ['ab.test', 'bc.test'], verify),
        line('c', ['*', 'bc.test'], 'alpn http/1.1'),
      ],
    };
    await deployer.deploy(world);
    const change = (certificates: World['certificates']): World => ({
      ...world,
      certificates: { ...world.certificates, ...certificates },
    });
    const changes: readonly (readonly [() => World, outcome: string])[] = [
      [() => change({ d: d[1] }), 'reload'],
      [() => change({ a: a[1] }), 'reload'],
      [() => change({ b: b[1] }), 'reload'],
      [() => change({ c: c[1] }), 'runtime'],
      [() => ({ ...world, authorities: { root: roots[1].pem } }), 'reload'],
      [() => ({ ...world, crtLines: world.crtLines!.slice(0, 3) }), 'runtime'],
      [() => ({ ...world, authorities: { root: roots[0].pem } }), canSetAuthorities ? 'runtime' : 'reload'],
      [() => change({ b: b[0] }), 'runtime'],
    ];
    for (const [next, outcome] of changes) {
      world = next();
      const { crtLines, certificates: { c: _, ...others } = {} } = world;
      if (crtLines!.length === 3) world = { ...world, certificates: others };
      const { plan, reply } = await deployer.deploy(world);
      expect(await workerDump(pod, { clients })).toEqual(await coldDump(pod, binary, { clients }));
      expect([plan.reasons, reply.body.outcome, reply.body.message]).toEqual([
        plan.reasons,
        outcome,
        undefined,
      ]);
    }
  });
});

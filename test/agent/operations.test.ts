import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ApplyMessage } from '@haptic/agent/protocol';
import { isSupportedBy, type Rendered } from '@haptic/core/contract';
import { origin } from '../haproxy/origin.ts';
import { request } from '../haproxy/raw-request.ts';
import { until } from '../haproxy/until.ts';
import { forEachVersion } from '../haproxy/versions.ts';
import { authorityOf, authorityPem, pemFor } from './certificates.ts';
import { Deployer } from './deployer.ts';
import { Pod } from './pod.ts';
import { runningPod } from './running-pod.ts';
import { coldDump, workerDump } from './worker-dump.ts';
import type { CrtLine, World } from './world.ts';

const body = 'balance roundrobin\n';

async function expectInStep(pod: Pod, binary: string): Promise<void> {
  await until(async () => (await pod.state('plan=0')).pendingDeletes.length === 0, {
    what: 'deletes are done',
  });
  expect((await pod.state('verify=1')).inStep).toBe(true);
  expect(await workerDump(pod)).toEqual(await coldDump(pod, binary));
}

/** Operations for the second world, of which HAProxy refuses the last. */
async function refusedMessage(deployer: Deployer, next: Rendered): Promise<ApplyMessage> {
  const plan = await deployer.plan(next);
  const refused = { op: 'map.set', map: 'maps/hosts.map', key: 'c.test', value: 'app' } as const;
  return deployer.message(next, { ...plan, ops: [...plan.ops, refused] });
}

const one: World = { backends: { app: { body, servers: { a: { port: 1 } } } }, hosts: { 'a.test': 'app' } };
const line = (certificate: string, sni: readonly string[], options = ''): CrtLine => ({
  certificate,
  options,
  sni,
});
const two: World = { ...one, hosts: { 'a.test': 'app', 'b.test': 'app' } };

forEachVersion(({ binary }) => {
  test('an operation that HAProxy refuses half way becomes a reload', async () => {
    const { pod, deployer } = await runningPod(binary);
    await deployer.deploy(one);
    const next = deployer.render(two);
    const { body: answer } = await pod.apply(await refusedMessage(deployer, next));
    expect(answer).toMatchObject({ outcome: 'reload', fellBack: true, rolledBack: false, skew: [] });
    expect(answer.message).toContain('`set map maps/hosts.map c.test app`: entry not found.');
    await expectInStep(pod, binary);
    expect(await pod.state()).toMatchObject({ applied: next.plan.id, lkg: next.plan.id });
  });

  test('what one operation puts out of use and a later one of the same apply wants stays', async () => {
    const { pod, deployer } = await runningPod(binary, { 'longest-response': '0' });
    await deployer.deploy({ ...one, leaves: { app: '1' } });
    const next = deployer.render({ ...one, leaves: { app: '2' } });
    const leaf = { map: 'maps/leaves.map', key: 'app' } as const;
    const ops = [
      { op: 'map.del', ...leaf, deferred: true },
      { op: 'map.add', ...leaf, value: '2' },
    ] as const;
    const message = deployer.message(next, { ...(await deployer.plan(next)), ops });
    expect((await pod.apply(message)).body).toMatchObject({ outcome: 'runtime' });
    await expectInStep(pod, binary);
  });

  test('when the files are refused as well, files and worker are as they were', async () => {
    const { pod, deployer } = await runningPod(binary);
    await deployer.deploy(one);
    const before = await workerDump(pod);
    const plan = await deployer.plan(deployer.render(two));
    const bad = deployer.render({ ...two, extra: 'bogus' });
    const refused = { op: 'map.set', map: 'maps/hosts.map', key: 'c.test', value: 'app' } as const;
    const message = deployer.message(bad, { ...plan, ops: [...plan.ops, refused] });
    const { body: answer } = await pod.apply(message);
    expect(answer).toMatchObject({ outcome: 'rejected', stage: 'reload', rolledBack: true, fellBack: true });
    expect(answer.message).toContain("unknown keyword 'bogus'");
    expect(await workerDump(pod)).toEqual(before);
    await expectInStep(pod, binary);
    expect(await pod.state()).toMatchObject({ applied: deployer.applied?.plan.id });

    // Known to be bad now: HAProxy is not asked again.
    const { worker } = await pod.state();
    const again = deployer.message(bad, await deployer.plan(bad));
    expect((await pod.apply(again)).body).toMatchObject({ outcome: 'rejected', stage: 'reload' });
    expect((await pod.state()).worker).toEqual(worker);
  });

  test('a changed authority is asked for, and certificates that change after it are served', async () => {
    const { pod, deployer } = await runningPod(binary);
    const roots = await Promise.all([authorityOf('one'), authorityOf('two')]);
    const clients = roots.map(({ client }) => client);
    const crtLines = [line('a', ['a.test'], 'verify optional ca-file ca/root.pem')];
    await deployer.deploy({ ...one, crtLines, ...(await world(0)) });
    const changes = [await world(1), await world(1), await world(0), await world(0)];
    const version = (await pod.state()).haproxyVersion ?? '';
    for (const change of changes) {
      const { plan, reply } = await deployer.deploy({ ...one, crtLines, ...change });
      const isReload =
        plan.reasons.some((reason) => reason.startsWith('ca_')) && !isSupportedBy(version, 'ca.set');
      expect([reply.body.outcome, reply.body.message]).toEqual([isReload ? 'reload' : 'runtime', undefined]);
      expect(await workerDump(pod, { clients })).toEqual(await coldDump(pod, binary, { clients }));
    }

    async function world(root: 0 | 1): Promise<Partial<World>> {
      return { certificates: { a: await pemFor('a.test') }, authorities: { root: roots[root].pem } };
    }
  });

  test('certificates, authorities and lines of crt-lists change without a reload', async () => {
    const { pod, deployer } = await runningPod(binary);
    const [a, b, other] = await Promise.all([pemFor('a.test'), pemFor('b.test'), pemFor('a.test')]);
    const root = await authorityPem('one');
    const tls: World = { ...one, certificates: { a }, crtLines: [line('a', ['a.test'], 'alpn h2')] };
    expect((await deployer.deploy(tls)).reply.body.outcome).toBe('reload');
    const { worker } = await pod.state();
    const more: World = {
      ...tls,
      certificates: { a, b },
      authorities: { root },
      crtLines: [
        ...tls.crtLines!,
        line('b', ['b.test', '*.b.test'], 'alpn h2,http/1.1'),
        line('b', ['c.test'], 'verify optional ca-file ca/root.pem'),
      ],
    };
    const steps: World[] = [
      more,
      { ...more, certificates: { a: other, b } },
      { ...more, crtLines: more.crtLines!.toSpliced(1, 1) },
      tls,
    ];
    for (const step of steps) {
      const { plan, reply } = await deployer.deploy(step);
      expect([plan.reasons, reply.body.outcome, reply.body.message]).toEqual([
        plan.reasons,
        'runtime',
        undefined,
      ]);
      await expectInStep(pod, binary);
    }
    expect((await pod.state()).worker).toEqual(worker);
  });

  test('files that HAProxy has not loaded are replaced without a reload', async () => {
    const { pod, deployer } = await runningPod(binary);
    const canSetAuthorities = isSupportedBy((await pod.state()).haproxyVersion ?? '', 'ca.set');
    const world = async (): Promise<World> => ({
      ...one,
      certificates: { unnamed: await pemFor('u.test') },
      ...(canSetAuthorities && { authorities: { unnamed: await authorityPem('unnamed') } }),
    });
    await deployer.deploy(await world());
    const { plan, reply } = await deployer.deploy(await world());
    expect(plan.ops.map(({ op }) => op)).toEqual([...(canSetAuthorities ? ['ca.set'] : []), 'cert.set']);
    expect(reply.body).toMatchObject({ outcome: 'runtime', fellBack: false });
    await expectInStep(pod, binary);

    // Where the worker must have it, that it has not is a refusal.
    const next = deployer.render(await world());
    const message = deployer.message(next, await deployer.plan(next));
    const strict = message.ops!.map(({ op, ...rest }) => ({ op, path: rest['path'] }));
    expect((await pod.apply({ ...message, ops: strict })).body).toMatchObject({
      outcome: 'reload',
      fellBack: true,
      message: expect.stringContaining('not referenced by the configuration'),
    });
  });

  test('a server that comes back while its last request runs is taken into use again', async () => {
    const { pod, deployer } = await runningPod(binary);
    const held = Promise.withResolvers<void>();
    const slow = await origin('slow', {
      before: ({ path }) => (path === '/held' ? held.promise : Promise.resolve()),
    });
    const app = (servers: World['backends'][string]['servers']): World => ({
      ...one,
      backends: { app: { body, servers } },
    });
    const [before, gone] = [app({ a: { port: slow.port } }), app({})];
    await deployer.deploy(before);
    const { worker } = await pod.state();
    const call = request(pod.port, { host: 'a.test', path: '/held' });
    await until(() => slow.seen.length > 0);

    expect((await deployer.deploy(gone)).reply.body.outcome).toBe('runtime');
    expect((await pod.state()).pendingDeletes).toEqual(['server app/a']);
    expect((await request(pod.port, { host: 'a.test' })).status).toBe(503);
    expect((await deployer.deploy(app({ a: { port: slow.port, weight: 5 } }))).reply.body).toMatchObject({
      outcome: 'runtime',
    });
    expect((await request(pod.port, { host: 'a.test' })).status).toBe(200);
    expect(await pod.state()).toMatchObject({ worker, pendingDeletes: [] });

    // Another one of the same name cannot take its place before it has gone.
    await deployer.deploy(gone);
    const { reply } = await deployer.deploy(app({ a: { port: slow.port, keywords: ['maxconn', '9'] } }));
    expect(reply.body).toMatchObject({ outcome: 'reload', fellBack: true });
    expect((await request(pod.port, { host: 'a.test' })).status).toBe(200);
    held.resolve();
    expect((await call).status).toBe(200);
    await expectInStep(pod, binary);
  });
});

forEachVersion(({ binary }) => {
  test('endpoints do not wait for a reload that has to wait', async () => {
    const { pod, deployer } = await runningPod(binary, { 'reload-interval-min': '4000' });
    const served = await origin('served');
    await deployer.deploy(one);
    const moved: World = { ...one, backends: { app: { body, servers: { b: { port: served.port } } } } };
    const { plan, reply } = await deployer.deploy({ ...moved, extra: 'http-request set-header x-a b' });
    expect([plan.mode, reply.body.outcome]).toEqual(['reload', 'scheduled']);
    expect((await request(pod.port, { host: 'a.test' })).status).toBe(200);
    // And what needs no reload by itself comes with the one that is due.
    const next = { ...moved, hosts: { 'b.test': 'app' }, extra: 'http-request set-header x-a b' };
    expect((await deployer.deploy(next)).reply.body.outcome).toBe('scheduled');
    await until(async () => (await pod.state()).inStep);
    await expectInStep(pod, binary);
  });

  test('a reload that operations fall back to waits for its turn, too', async () => {
    const { pod, deployer } = await runningPod(binary, { 'reload-interval-min': '4000' });
    await deployer.deploy(one);
    const { worker } = await pod.state();
    const next = deployer.render(two);
    const { body: answer } = await pod.apply(await refusedMessage(deployer, next));
    expect(answer).toMatchObject({ outcome: 'scheduled', fellBack: true, planId: next.plan.id });
    expect(answer.message).toContain('entry not found.');
    expect(await pod.state()).toMatchObject({
      worker,
      inStep: false,
      pendingReload: { planId: next.plan.id },
    });
    await until(async () => (await pod.state()).inStep);
    expect(await pod.state()).toMatchObject({ lkg: next.plan.id, lastApply: { outcome: 'reload' } });
    await expectInStep(pod, binary);
  });

  test('a put-off reload that is refused takes back what was done in place', async () => {
    const { pod, deployer } = await runningPod(binary, { 'reload-interval-min': '1500' });
    await deployer.deploy(one);
    const { applied } = await pod.state();
    const moved: World = {
      ...one,
      backends: { app: { body, servers: { b: { port: 2 } } } },
      extra: 'bogus',
    };
    expect((await deployer.deploy(moved)).reply.body.outcome).toBe('scheduled');
    await until(async () => (await pod.state()).lastApply?.outcome === 'rejected');
    await until(async () => (await pod.state()).inStep);
    expect(await pod.state()).toMatchObject({ applied });
    await expectInStep(pod, binary);
  });

  test('what has to be deleted is not forgotten over a restart, and dropped by a reload', async () => {
    const pod = await Pod.create(binary);
    await pod.startHaproxy();
    const agent = await pod.startAgent();
    const deployer = new Deployer(pod);
    const held = Promise.withResolvers<void>();
    const slow = await origin('slow', { before: () => held.promise });
    const before = { ...one, backends: { app: { body, servers: { a: { port: slow.port } } } } };
    await deployer.deploy(before);
    const call = request(pod.port, { host: 'a.test' });
    await until(() => slow.seen.length > 0);
    await deployer.deploy({ ...before, backends: { app: { body, servers: {} } }, leaves: {} });
    await agent.kill('SIGKILL');
    await pod.startAgent();
    expect((await pod.state()).pendingDeletes).toEqual(['server app/a']);
    held.resolve();
    expect((await call).status).toBe(200);
    await expectInStep(pod, binary);

    const leaf = { ...before, leaves: { x: 'y' } };
    await deployer.deploy(leaf);
    await deployer.deploy(before);
    expect((await pod.state()).pendingDeletes).toEqual(['map maps/leaves.map x']);
    expect((await deployer.deploy(leaf)).reply.body.outcome).toBe('runtime');
    expect((await pod.state()).pendingDeletes).toEqual([]);
    await deployer.deploy(before);
    await deployer.deploy({ ...before, extra: 'http-request set-header x-a b' });
    expect((await pod.state()).pendingDeletes).toEqual([]);
    await expectInStep(pod, binary);
  });

  test('goes back to the last known good also from what only operations brought', async () => {
    const { pod, deployer } = await runningPod(binary);
    await deployer.deploy(one);
    const good = (await pod.state()).applied;
    const dump = await workerDump(pod);
    expect((await deployer.deploy(two)).reply.body.outcome).toBe('runtime');
    const { applied, lkg, token } = await pod.state();
    expect(lkg).toBe(good);
    const revert: ApplyMessage = {
      planId: applied!,
      textId: '',
      files: [],
      mode: 'revert_lkg',
      expect: applied,
      token: { epoch: token!.epoch, seq: token!.seq + 1 },
    };
    expect((await pod.apply(revert)).body).toMatchObject({ outcome: 'reload', planId: good });
    expect(await workerDump(pod)).toEqual(dump);
  });

  test('broken operations are refused with their place', async () => {
    const { pod, deployer } = await runningPod(binary);
    const next = deployer.render(one);
    const message = deployer.message(next, await deployer.plan(next));
    const outside = join(pod.dir, 'outside.pem');
    await writeFile(outside, 'not of the tree');
    const broken: [op: object, problems: readonly RegExp[]][] = [
      [{ op: 'map.set', map: 'maps/hosts.map' }, [/^ops\.0\.key: /, /^ops\.0\.value: /]],
      [{ op: 'cert.add', path: '../../../../outside.pem' }, [/^ops\.0\.path: .* is not canonical/]],
      [{ op: 'ca.set', path: outside }, [/^ops\.0\.path: .* is absolute/]],
      [{ op: 'map.replace', map: '../a.map' }, [/^ops\.0\.map: .* is not canonical/]],
      [
        { op: 'crtlist.add', list: 'a/../../b', line: { certificate: 'a', options: '', sni: [] } },
        [/^ops\.0\.list: .* is not canonical/],
      ],
    ];
    for (const [op, problems] of broken) {
      const { status, body: answer } = await pod.apply({ ...message, ops: [op] });
      expect(status, JSON.stringify(op)).toBe(422);
      expect(answer.problems).toEqual(problems.map((words) => expect.stringMatching(words)));
    }
    expect(await pod.state()).toMatchObject({ applied: null, token: null });
  });
});

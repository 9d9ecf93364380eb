import { expect, test } from 'vitest';
import type { Outcome } from '@haptic/core/contract';
import { CertificateAuthority } from '../cluster/certificates.ts';
import { request } from '../haproxy/raw-request.ts';
import { until } from '../haproxy/until.ts';
import { forEachVersion } from '../haproxy/versions.ts';
import { startController, type Controller } from './controller.ts';
import { Pod } from './pod.ts';
import { renderedOf } from './rendered.ts';
import { ask, asking, keptConnection, startTlsAgent, type TlsAgent } from './tls-agent.ts';
import { AGENT, bundle, CONTROLLER, MountedSecret, tlsContents } from './tls-secret.ts';

/** Under load a reload takes its time. */
const LONG = { timeout: 240_000 };
const WAIT = { deadlineMs: 30_000 };

function refusals({ log }: TlsAgent): number {
  return log.records.filter(({ message }) => message.startsWith('the new certificates cannot be used'))
    .length;
}

test('new files that cannot be used keep the former ones, which is said once', async () => {
  const authority = await CertificateAuthority.create('fleet');
  const [one, two] = [await tlsContents(authority, AGENT), await tlsContents(authority, AGENT)];
  const controller = await tlsContents(authority, CONTROLLER);
  const secret = await MountedSecret.create(one);
  const agent = await startTlsAgent({ tls: secret.files });
  const leaf = async (): Promise<string | undefined> => (await ask(agent.port, controller)).state.tls?.leaf;
  const first = await leaf();
  const broken = [
    { ...one, key: two.key },
    { ...one, cert: two.cert.slice(0, two.cert.length / 2) },
    { ...one, ca: `${two.ca}${two.ca.slice(0, 100)}` },
    { cert: two.cert, key: two.key },
    { ...(await tlsContents(authority, CONTROLLER)) },
  ];
  for (const [index, contents] of broken.entries()) {
    await secret.put(contents);
    await until(() => refusals(agent) > index, WAIT);
    expect(await leaf()).toBe(first);
  }
  expect(refusals(agent)).toBe(broken.length);
  await secret.put(two);
  await until(async () => (await leaf()) !== first, WAIT);
});

test('when an authority is cut off, so are the connections of those that it vouched for', async () => {
  const [old, next] = [await CertificateAuthority.create('old'), await CertificateAuthority.create('new')];
  const both = { trusts: [old, next] };
  const secret = await MountedSecret.create(await tlsContents(old, AGENT, both));
  const agent = await startTlsAgent({ tls: secret.files });
  const { port } = agent;
  const [cut, good] = [await tlsContents(old, CONTROLLER, both), await tlsContents(next, CONTROLLER, both)];
  const [idle, waiting] = [keptConnection(cut), keptConnection(cut)];
  const { generation, worker } = (await ask(port, { agent: idle })).state;
  const poll = asking(
    port,
    { agent: waiting },
    `after=${generation}&worker=${worker?.pid ?? 0}&waitMs=60000`,
  );
  const pollEnded = new Promise((resolve) => poll.once('error', resolve).once('response', resolve).end());
  await until(() => Object.keys(waiting.sockets).length > 0, WAIT);
  const idleEnded = new Promise((resolve) =>
    Object.values(idle.freeSockets).flat()[0]?.once('close', resolve),
  );
  const { cert, key } = await tlsContents(next, AGENT);
  await secret.put({ cert, key, ca: bundle(next) });
  await idleEnded;
  expect(await pollEnded).toBeInstanceOf(Error);
  await expect(ask(port, cut)).rejects.toThrow();
  expect((await ask(port, good)).state.tls?.authorities).toHaveLength(1);
});

forEachVersion(
  ({ binary }) => {
    test('authorities are rotated under a stream of applies, none of which fails', LONG, async () => {
      const pod = await Pod.create(binary);
      await pod.startHaproxy();
      const [old, next] = [
        await CertificateAuthority.create('old'),
        await CertificateAuthority.create('new'),
      ];
      const ofAgent = await MountedSecret.create(await tlsContents(old, AGENT));
      const ofController = await MountedSecret.create(await tlsContents(old, CONTROLLER));
      const agent = await startTlsAgent({
        tls: ofAgent.files,
        baseDir: pod.baseDir,
        socketDir: pod.socketDir,
      });
      const { port } = agent;
      const controller = await startController({
        mode: 'static',
        pods: [{ name: 'pod', url: `https://127.0.0.1:${port}` }],
        tls: ofController.files,
        poll: 500,
      });
      await until(() => controller.fleet.facts().haproxyVersion, WAIT);
      const stream = applyStream(controller, pod);
      const observer = await tlsContents(next, CONTROLLER, { trusts: [old, next] });

      const [agentOld, controllerOld] = [await tlsContents(old, AGENT), await tlsContents(old, CONTROLLER)];
      await ofAgent.put({ ...agentOld, ca: bundle(old, next) });
      await ofController.put({ ...controllerOld, ca: bundle(old, next) });
      // An observer of the new authority gets in once it is trusted.
      const trusted = async (): Promise<number | undefined> =>
        (await ask(port, observer)).state.tls?.authorities.length;
      await until(async () => (await trusted()) === 2, WAIT);
      await until(() => taken(controller) === 1, WAIT);
      await stream.goesOn();

      await ofAgent.put({ ...(await tlsContents(next, AGENT)), ca: bundle(old, next) });
      await ofController.put({ ...(await tlsContents(next, CONTROLLER)), ca: bundle(old, next) });
      await until(() => taken(controller) === 2 && taken(agent) === 2, WAIT);
      await stream.goesOn();

      await ofAgent.put(await tlsContents(next, AGENT));
      await ofController.put(await tlsContents(next, CONTROLLER));
      await until(async () => (await trusted()) === 1, WAIT);
      await until(() => taken(controller) === 3, WAIT);
      await stream.goesOn();

      const outcomes = await stream.end();
      expect(
        outcomes.map(({ result }) => result).filter((result) => result === 'reload').length,
      ).toBeGreaterThan(2);
      const failed = outcomes.filter(({ result }) => !['reload', 'file_only'].includes(result));
      expect(failed).toEqual([]);
      // Nor did the pod seem to be away at any moment.
      expect(controller.log.records.filter(({ level }) => level === 'warn' || level === 'error')).toEqual([]);
      await expect(ask(port, { ...controllerOld, ca: bundle(next) })).rejects.toThrow();
      expect((await request(pod.port)).body.toString()).toMatch(/^site \d+ \d+$/);
    });
  },
  ['3.4'],
);

/** How often other certificates were taken. */
function taken({ log }: Pick<TlsAgent, 'log'>): number {
  return log.records.filter(({ message }) => message === 'other certificates are used now').length;
}

/** Applies one after the other, every tenth with a reload. */
function applyStream(controller: Controller, pod: Pod) {
  const outcomes: Outcome[] = [];
  const stop = new AbortController();
  const run = async (): Promise<void> => {
    for (let count = 0; !stop.signal.aborted; count += 1) {
      const loads = count % 10 === 0;
      const rendered = renderedOf(pod.site(`site ${Math.floor(count / 10)}`, { map: String(count) }));
      outcomes.push(...(await controller.deploy(rendered, { mode: loads ? 'reload' : 'file_only' })));
    }
  };
  const running = run();
  return {
    /** Some more have been done. */
    goesOn: async () => {
      const before = outcomes.length;
      await until(() => outcomes.length >= before + 12, { deadlineMs: 60_000, what: 'applies go on' });
    },
    end: async () => {
      stop.abort();
      await running;
      return outcomes;
    },
  };
}

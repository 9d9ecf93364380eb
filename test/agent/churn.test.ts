import { expect, test } from 'vitest';
import { origin, type Origin } from '../haproxy/origin.ts';
import { traffic, type TrafficReport } from '../haproxy/traffic.ts';
import { until } from '../haproxy/until.ts';
import { forEachVersion } from '../haproxy/versions.ts';
import { Deployer } from './deployer.ts';
import { Pod } from './pod.ts';
import type { World, WorldServer } from './world.ts';

const isSoak = process.env['HAPTIC_SOAK'] === '1';
const applies = isSoak ? 500 : 40;
const body = 'balance roundrobin\n';

interface Churn {
  readonly reports: readonly TrafficReport[];
  readonly outcomes: Readonly<Record<string, number>>;
  readonly perSecond: number;
}

/**
 * Applies of all kinds under traffic: pods that come and go, map entries, routes, reloads. A pod that goes stops serving when its
 * server has been deleted; without the `drain` as soon as the apply is answered.
 */
async function churn(binary: string, count: number, drain: boolean): Promise<Churn> {
  const pod = await Pod.create(binary);
  await pod.startHaproxy();
  await pod.startAgent({ 'longest-response': '0' });
  const deployer = new Deployer(pod);
  const outcomes: Record<string, number> = {};
  const slow = { before: () => new Promise<void>((resolve) => void setTimeout(resolve, 5)) };
  const pods: Origin[] = [await origin('0', slow), await origin('1', slow)];
  const deploy = async (extra: Partial<World>): Promise<void> => {
    const servers = Object.fromEntries(
      pods.map(({ name, port }): [string, WorldServer] => [`pod-${name}`, { port }]),
    );
    const backends = { app: { body, servers }, ...extra.backends };
    const { reply } = await deployer.deploy({
      ...extra,
      backends,
      hosts: { 'a.test': 'app', ...extra.hosts },
    });
    expect(reply.body.message).toBeUndefined();
    outcomes[reply.body.outcome] = (outcomes[reply.body.outcome] ?? 0) + 1;
  };
  await deploy({});
  const clients = { port: pod.port, host: 'a.test', clients: isSoak ? 16 : 4, pauseMs: isSoak ? 0 : 1 };
  const loads = [traffic(clients), traffic({ ...clients, keepAlive: true, body: 'x'.repeat(2_000) })];
  const startedAt = performance.now();
  let extra = '0';
  for (let index = 1; index <= count; index += 1) {
    const kind = index % 4;
    // Every tenth one needs a reload, whatever else it changes.
    if (index % 10 === 0) extra = String(index);
    const world = { extra: `http-response set-header x-generation ${extra}` };
    if (kind === 0)
      await deploy({ ...world, hosts: { [`h${index}.test`]: 'app' }, leaves: { app: String(index) } });
    else if (kind === 1) {
      await deploy({ ...world, backends: { more: { body, servers: {} } }, hosts: { 'more.test': 'more' } });
    } else if (kind === 2) {
      pods.push(await origin(String(index), slow));
      await deploy(world);
    } else {
      const [gone] = pods.splice(0, 1);
      await deploy(world);
      const isGone = async (): Promise<boolean> =>
        !(await pod.state('plan=0')).pendingDeletes.includes(`server app/pod-${gone!.name}`);
      if (drain) await until(isGone, { what: 'the server is deleted' });
      await gone!.stop();
    }
  }
  const seconds = (performance.now() - startedAt) / 1_000;
  const reports = await Promise.all(loads.map((load) => load.stop()));
  const requests = reports.reduce((sum, report) => sum + report.requests, 0);
  return { reports, outcomes, perSecond: Math.round(requests / seconds) };
}

forEachVersion(({ binary }) => {
  test(`no request fails over ${applies} applies of all kinds`, { timeout: applies * 5_000 }, async () => {
    const { reports, outcomes, perSecond } = await churn(binary, applies, true);
    const words = JSON.stringify({ outcomes, perSecond });
    for (const report of reports) expect(report, words).toMatchObject({ failed: 0, failures: [] });
    expect(outcomes['reload'], words).toBeGreaterThanOrEqual(applies / 10);
    expect(outcomes['runtime'], words).toBeGreaterThanOrEqual(applies / 3);
    if (isSoak) expect(perSecond, words).toBeGreaterThanOrEqual(1_000);
  });
});

forEachVersion(
  ({ binary }) => {
    test('pods that do not wait for their last request would lose some', async () => {
      const { reports } = await churn(binary, applies, false);
      expect(reports.reduce((sum, { failed }) => sum + failed, 0)).toBeGreaterThan(0);
    });
  },
  ['3.4'],
);

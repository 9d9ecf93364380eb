import { expect, test } from 'vitest';
import { startLoad, type ClientGroup, type LoadReport } from '../haproxy/load/index.ts';
import { until } from '../haproxy/until.ts';
import { forEachVersion, type Haproxy } from '../haproxy/versions.ts';
import { authorityPem } from './certificates.ts';
import { CHANGES, ChurnWorld } from './churn-world.ts';
import { Deployer, sparesFor } from './deployer.ts';
import { textsForFaults } from './fault-points.ts';
import { Pod } from './pod.ts';

const isSoak = process.env['HAPTIC_SOAK'] === '1';
const applies = isSoak ? 500 : 3 * CHANGES.length;
/** Of origins: so long a request is in a server's hands. */
const delayMs = isSoak ? 20 : 40;
const aSecond = isSoak ? 1_400 : 300;

interface Churn {
  readonly report: LoadReport;
  /** By what they needed, and why. */
  readonly outcomes: Readonly<Record<string, number>>;
}

/** Half of the requests on connections of their own, half with bodies on kept ones, and a few by TLS. */
function groups({ port, tlsPort }: Pod): readonly ClientGroup[] {
  const clients = isSoak ? 32 : 12;
  const common = { host: 'a.test', tls: false, clients, everyMs: (2_000 * clients) / aSecond };
  return [
    { ...common, port, keepAlive: false, body: '' },
    { ...common, port, keepAlive: true, body: 'x'.repeat(2_000) },
    { ...common, port: tlsPort, keepAlive: false, body: '', tls: true, clients: 1, everyMs: 50 },
  ];
}

/** Applies of all kinds under traffic. A pod that goes stops serving when its server has been deleted. */
async function churn({ binary, minor }: Haproxy, options: Record<string, boolean> = {}): Promise<Churn> {
  const pod = await Pod.create(binary);
  await pod.startHaproxy();
  await pod.startAgent({ 'longest-response': '0', ...options });
  const load = await startLoad();
  const [texts, ...roots] = await Promise.all([textsForFaults(), authorityPem('one'), authorityPem('two')]);
  const site = await ChurnWorld.create(load, { ...texts, roots }, delayMs);
  const deployer = new Deployer(pod, { spareBackends: sparesFor(minor) });
  const outcomes: Record<string, number> = {};
  const deploy = async (what: string): Promise<void> => {
    const { plan, reply } = await deployer.deploy(site.world);
    expect(reply.body.message, `${what}: ${plan.reasons.join()}`).toBeUndefined();
    outcomes[reply.body.outcome] = (outcomes[reply.body.outcome] ?? 0) + 1;
  };
  await deploy('start');
  await load.start(groups(pod));
  for (let index = 0; index < applies; index += 1) {
    const what = CHANGES[index % CHANGES.length]!;
    const leaving = await site.change(index);
    await deploy(what);
    if (leaving === undefined) continue;
    const isGone = async (): Promise<boolean> =>
      !(await pod.state('plan=0')).pendingDeletes.includes(leaving.gone);
    await until(isGone, { what: leaving.gone });
    await leaving.end();
  }
  return { report: await load.stop(), outcomes };
}

forEachVersion((haproxy) => {
  test(
    `no request fails over ${applies} applies of all kinds`,
    { timeout: 60_000 + applies * 5_000 },
    async () => {
      const { report, outcomes } = await churn(haproxy);
      const words = JSON.stringify({ outcomes, report });
      expect(report, words).toMatchObject({ failed: 0, failures: [] });
      expect(outcomes['runtime'], words).toBeGreaterThanOrEqual(applies / 2);
      expect(outcomes['reload'], words).toBeGreaterThanOrEqual(Math.floor(applies / CHANGES.length));
      if (!isSoak) return;
      expect(report.perSecond, words).toBeGreaterThanOrEqual(1_000);
      expect(outcomes['reload'], words).toBeGreaterThanOrEqual(50);
      console.info(`HAProxy ${haproxy.minor}: ${words}`);
    },
  );

  test(
    'an agent that does not wait for the last requests of a server is found out',
    { timeout: 60_000 + applies * 5_000 },
    async () => {
      const { report } = await churn(haproxy, { 'remove-at-once': true });
      expect(report.failed, JSON.stringify(report)).toBeGreaterThan(0);
    },
  );
});

import { execa } from 'execa';
import { setTimeout as sleep } from 'node:timers/promises';
import { objectPath } from '@haptic/kube';
import { expect } from 'vitest';
import { until } from '../../haproxy/until.ts';
import { agentState } from '../e2e/agent-state.ts';
import type { Controller } from '../e2e/world.ts';
import type { Installation, Webhook } from './installation.ts';
import { closedLoop, MIB, percentile, residentMemory, tell, timeUntil } from './measure.ts';
import { counted } from './metrics.ts';
import { createForeignIngresses, createReleases, resources, siteHost, siteName } from './objects.ts';

/** A goal is told; a long run fails only far above it, since other work on the machine is no fault of ours, and a short one never. */
const FAR_ABOVE = process.env['HAPTIC_SOAK'] === '1' ? 3 : Infinity;

export function expectNotFarAbove(what: string, value: number, goal: number): void {
  expect(value, `${what}; the goal is ${goal}`).toBeLessThan(goal * FAR_ABOVE);
}

/** A change of a host's path, which is another plan each time. */
function writeIngress(
  { cluster, world }: Installation,
  name: string,
  {
    host,
    path = '/',
    dryRun = false,
  }: { readonly host: string; readonly path?: string; readonly dryRun?: boolean },
): Promise<unknown> {
  const backend = { service: { name, port: { number: 80 } } };
  return cluster.access.api.json({
    method: 'PATCH',
    path: objectPath(resources.ingresses, world.namespace, name),
    query: { fieldManager: 'writer', ...(dryRun && { dryRun: 'All' }) },
    contentType: 'application/merge-patch+json',
    body: { spec: { rules: [{ host, http: { paths: [{ path, pathType: 'Prefix', backend }] } }] } },
  });
}

/** From the moment a change is sent to the API server until HAProxy answers by it, one change after the other. */
export async function measureChanges(installation: Installation, changes: number): Promise<void> {
  const latencies: number[] = [];
  for (let change = 0; change < changes; change += 1) {
    const host = `changed-${change}.test`;
    const since = performance.now();
    await writeIngress(installation, siteName(change % installation.sites), { host });
    latencies.push(await timeUntil(() => installation.serves(host), { since, deadlineMs: 60_000 }));
  }
  tell(`${changes} changes from the write to the wire, ms`, {
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
    most: Math.max(...latencies),
  });
}

export interface AdmissionGoals {
  /** Milliseconds. */
  readonly oneWriter: number;
  readonly eightWriters?: number;
}

export interface AdmissionRun {
  readonly webhook: Webhook;
  /** Of one writer; twice as many of eight. */
  readonly writes: number;
  readonly goals: AdmissionGoals;
}

/** Writes that are judged, by one writer and by eight that each wait for their answer; and HAProxy's check alone beside it. */
export async function measureAdmission(
  installation: Installation,
  controller: Controller,
  { webhook, writes, goals }: AdmissionRun,
): Promise<void> {
  const remove = await webhook.register(installation);
  const { sites } = installation;
  const write =
    (round: string, dryRun: boolean) =>
    (index: number): Promise<unknown> => {
      const site = index % sites;
      return writeIngress(installation, siteName(site), {
        host: siteHost(site),
        path: `/${round}${index}`,
        dryRun,
      });
    };
  // API servers take a moment to follow a new webhook.
  await until(() => isJudged(installation, controller), { deadlineMs: 60_000, what: 'changes are judged' });
  const one = await closedLoop({ loops: 1, count: writes }, write('one', false));
  const eight = await closedLoop({ loops: 8, count: writes * 2 }, write('eight', false));
  const dry = await closedLoop({ loops: 8, count: writes * 2 }, write('dry', true));
  const bare = await closedLoop({ loops: 8, count: writes * 2 }, await bareCheck(installation));
  await remove();
  const figures = {
    'p99 of one writer, ms': percentile(one.latencies, 0.99),
    'p99 of eight, ms': percentile(eight.latencies, 0.99),
    'verdicts a second': dry.perSecond,
    'bare checks a second': bare.perSecond,
    'share of the bare check, %': (100 * dry.perSecond) / bare.perSecond,
  };
  tell('admission', { 'p50 of one writer, ms': percentile(one.latencies, 0.5), ...figures });
  expectNotFarAbove('admission, one writer', figures['p99 of one writer, ms'], goals.oneWriter);
  if (goals.eightWriters !== undefined)
    expectNotFarAbove('admission, eight writers', figures['p99 of eight, ms'], goals.eightWriters);
  expect(figures['share of the bare check, %'], 'the goal is 70 %').toBeGreaterThan(70 / FAR_ABOVE);
}

/** Whether the API server asks by now. */
async function isJudged(installation: Installation, controller: Controller): Promise<boolean> {
  const before = await counted(controller, 'haptic_webhook_requests_total');
  await writeIngress(installation, siteName(0), { host: siteHost(0), path: '/probe', dryRun: true });
  return (await counted(controller, 'haptic_webhook_requests_total')) > before;
}

/** What the judge runs, on what is deployed. */
async function bareCheck({ pod, haproxy }: Installation): Promise<() => Promise<unknown>> {
  const { paths } = await agentState(pod);
  return () => execa(haproxy, ['-c', '-dr', '-C', paths.base, '-f', 'haproxy.cfg'], { stdin: 'ignore' });
}

export interface ForeignSize {
  readonly ingresses: number;
  readonly releases: number;
  /** Of one release, encoded. */
  readonly bytes: number;
}

/** Objects that are nobody's business here appear: nothing is rendered, and nothing of them stays. */
export async function measureForeign(
  { cluster, world }: Installation,
  controller: Controller,
  { ingresses, releases, bytes }: ForeignSize,
): Promise<void> {
  const { api } = cluster.access;
  const { namespace } = world;
  await settled(controller);
  const renders = await counted(controller, 'haptic_render_total');
  const before = await residentMemory(controller.pid);
  const begun = performance.now();
  await createForeignIngresses(api, namespace, ingresses);
  await createReleases(api, { namespace, count: releases, bytes });
  const created = performance.now() - begun;
  await settled(controller);
  const after = await residentMemory(controller.pid);
  const more = (after.now - before.now) / MIB;
  tell(`${ingresses} foreign Ingresses and ${releases} Helm releases`, {
    'created in, s': created / 1_000,
    renders: (await counted(controller, 'haptic_render_total')) - renders,
    'RSS before, MiB': before.now / MIB,
    'more after, MiB': more,
    'peak, MiB': after.peak / MIB,
  });
  expect(await counted(controller, 'haptic_render_total'), 'renders').toBe(renders);
  expectNotFarAbove('MiB of foreign objects', more, 30);
}

/** What was in work is done, and garbage of it is mostly gone: its memory does not change any more. */
async function settled({ pid }: Controller): Promise<void> {
  let last = Number.NaN;
  await until(
    async () => {
      await sleep(1_000);
      const { now } = await residentMemory(pid);
      const still = Math.abs(now - last) < MIB;
      last = now;
      return still;
    },
    { deadlineMs: 120_000, what: 'memory is settled' },
  );
}

/** From the end of a leader to the beginning of the next term, and until a change made at that moment is served: planned, and by a kill. */
export async function measureHandOver(installation: Installation, first: Controller): Promise<void> {
  const follow = async (): Promise<Controller> => {
    const controller = await installation.startController();
    await controller.untilLogged('accepted a configuration');
    return controller;
  };
  const second = await follow();
  tell('a follower beside all that', { 'peak RSS, MiB': (await residentMemory(second.pid)).peak / MIB });
  const planned = await succeed(installation, second, {
    end: () => process.kill(first.pid, 'SIGTERM'),
    host: 'handed-over.test',
  });
  const third = await follow();
  const lost = await succeed(installation, third, {
    end: () => process.kill(-second.pid, 'SIGKILL'),
    host: 'lost.test',
  });
  tell('the next one leads after, ms', { 'a hand-over': planned.leads, 'a loss': lost.leads });
  tell('a change of that moment is on the wire after, ms', {
    'a hand-over': planned.serves,
    'a loss': lost.serves,
  });
  expectNotFarAbove('a hand-over', planned.leads, 1_000);
  expectNotFarAbove('a loss of the leader', lost.leads, 16_000);
}

async function succeed(
  installation: Installation,
  next: Controller,
  { end, host }: { readonly end: () => void; readonly host: string },
): Promise<{ readonly leads: number; readonly serves: number }> {
  const [since, clock] = [performance.now(), Date.now()];
  end();
  await writeIngress(installation, siteName(0), { host });
  const serves = await timeUntil(() => installation.serves(host), { since, deadlineMs: 60_000 });
  // The one that ends may have had the time to bring it out itself.
  await next.untilLogged('this process leads');
  const line = next.log().find(({ msg }) => msg === 'this process leads');
  return { leads: Date.parse(String(line?.['time'])) - clock, serves };
}

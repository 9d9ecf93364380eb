import { join } from 'node:path';
import {
  definePlugin,
  FLEET,
  z,
  type Fleet,
  type Hooks,
  type Outcome,
  type Rendered,
  type RenderPlan,
} from '@haptic/core/contract';
import { createHooks, Host, systemClock } from '@haptic/core/host';
import { memoryLog, type MemoryLog } from '@haptic/core/testing';
import deployAgent from '@haptic/deploy-agent';
import { Deployer, type DeployerParts } from '../../core/src/controller/deployer.ts';
import { diff } from '../../core/src/plan/index.ts';
import { onCleanup } from '../haproxy/cleanup.ts';
import { until } from '../haproxy/until.ts';
import { Pod } from './pod.ts';
import type { Program } from './program.ts';
import { Renderer, type World } from './world.ts';

/** What became of a plan on one pod, and when that was done, by the monotonic clock. */
export interface Told extends Outcome {
  readonly planId: string;
  readonly endedAt: number;
}

/** A controller from its deployer on: it brings every pod to what was rendered last. */
export interface TestFleet {
  readonly pods: readonly Pod[];
  readonly fleet: Fleet;
  readonly deployer: Deployer;
  readonly log: MemoryLog;
  /** In order, for each pod of each deployment. */
  readonly told: readonly Told[];
  readonly term: AbortController;
  render(world: World): Rendered;
  /** Every pod is to run this from now on. */
  want(rendered: Rendered, validated?: boolean): void;
  /** All pods, or those with these indices, are in step with the plan. */
  settled(plan: RenderPlan, pods?: readonly number[]): Promise<void>;
  /** What became of a plan, by pod, in order; what was nothing to do is left out. */
  readonly of: (plan: RenderPlan) => Readonly<Record<string, readonly string[]>>;
}

/** Not the number itself: one render is for all pods, and each has ports of its own. */
const PLACE = { port: '"${SITE_PORT}"', tlsPort: 1, workerSocket: '"${SITE_WORKER}"' };

/** A pod that runs what is rendered for `PLACE`. */
export async function fleetPod(binary: string): Promise<{ readonly pod: Pod; readonly agent: Program }> {
  const pod = await Pod.create(binary);
  pod.launcher = ['/usr/bin/env', `SITE_PORT=${pod.port}`, `SITE_WORKER=${pod.workerSocket}`];
  await pod.startHaproxy();
  return { pod, agent: await pod.startAgent() };
}

export async function startFleet(pods: readonly Pod[], options: object = {}): Promise<TestFleet> {
  const log = memoryLog();
  const told: Told[] = [];
  const host = await Host.start<Hooks>({
    hooks: createHooks(),
    observers: [],
    deadlines: { deploy: Number.POSITIVE_INFINITY },
    plugins: [
      { plugin: deployAgent, options: { ...podOptions(pods), ...options } },
      { plugin: planner, options: {} },
    ],
    log,
  });
  onCleanup(() => host.close());
  const fleet = host.use(FLEET);
  await until(() => fleet.pods().every(({ haproxyVersion }) => haproxyVersion), { deadlineMs: 30_000 });
  const term = new AbortController();
  onCleanup(() => term.abort());
  const deployer = driven({ hooks: listening(host.hooks, told), fleet, log }, term.signal);
  const renderer = new Renderer(PLACE);
  return {
    pods,
    fleet,
    deployer,
    log,
    told,
    term,
    render: (world) => renderer.render(world),
    want: (rendered, validated = true) =>
      deployer.update({ rendered, cause: { changes: [], since: 0 }, validated }, term.signal),
    settled: async ({ id }, indices = pods.map((_, index) => index)) => {
      const what = `pods ${indices.join()} run ${id.slice(0, 8)}`;
      const areThere = (): boolean => indices.every((index) => fleet.pods()[index]?.baseline?.id === id);
      await until(areThere, { what, deadlineMs: 60_000 }).catch((error: Error) => {
        throw new Error(`${error.message}\n${JSON.stringify(log.records.slice(-20), undefined, 1)}`);
      });
    },
    of: ({ id }) => {
      const results: Record<string, string[]> = {};
      for (const { pod, planId, result, reasons } of told) {
        if (planId !== id || result === 'noop') continue;
        (results[pod] ??= []).push(result === 'held' ? `held ${reasons.at(-1)}` : result);
      }
      return results;
    },
  };
}

/** As the reconcile loop does it. */
function driven(parts: Pick<DeployerParts, 'hooks' | 'fleet' | 'log'>, signal: AbortSignal): Deployer {
  const timers = new Set<NodeJS.Timeout>();
  const refreshIn = (ms: number): void => {
    const timer = setTimeout(() => {
      timers.delete(timer);
      if (!signal.aborted) deployer.refresh();
    }, ms);
    timers.add(timer);
  };
  onCleanup(async () => {
    for (const timer of timers) clearTimeout(timer);
    await deployer.idle();
  });
  const deployer = new Deployer({
    ...parts,
    clock: systemClock,
    retryIn: refreshIn,
    onRejected: () => {},
  });
  parts.fleet.onChange(() => refreshIn(0));
  return deployer;
}

/** Notes what becomes of plans, when it does. */
function listening({ plan, applied, deploy }: Hooks, told: Told[]): DeployerParts['hooks'] {
  const promise: Hooks['deploy']['promise'] = (deployment, ledger, context) => {
    const add = (outcome: Outcome): void => {
      told.push({ ...outcome, planId: deployment.rendered.plan.id, endedAt: performance.now() });
      ledger.add(outcome);
    };
    return deploy.promise(deployment, { outcomes: ledger.outcomes, add }, context);
  };
  return { plan, applied, deploy: { promise } as Hooks['deploy'] };
}

function podOptions(pods: readonly Pod[]): object {
  return {
    mode: 'static',
    pods: pods.map((pod, index) => ({
      name: `pod-${index}`,
      socketPath: pod.apiSocket,
      tokenFile: join(pod.dir, 'token'),
    })),
    applyTimeout: 20_000,
  };
}

/** Plans as the core does. */
const planner = definePlugin({
  name: 'planner',
  apiVersion: 1,
  options: z.strictObject({}),
  setup({ name, hooks }) {
    hooks.plan.tap(name, diff);
  },
});

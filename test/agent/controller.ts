import {
  FLEET,
  type Clock,
  type DeployMode,
  type DeployPlan,
  type Fleet,
  type Outcome,
  type Rendered,
} from '@haptic/core/contract';
import { createHooks, Host, systemClock } from '@haptic/core/host';
import { memoryLog, type MemoryLog } from '@haptic/core/testing';
import deployAgent from '@haptic/deploy-agent';
import { onCleanup } from '../haproxy/cleanup.ts';

/** As much of a controller as `deploy` needs. */
export interface Controller {
  readonly fleet: Fleet;
  readonly log: MemoryLog;
  /** Deploys to every pod; the mode as given, or by whether the pod runs it already. */
  deploy(
    rendered: Rendered,
    options?: { readonly mode?: DeployMode; readonly validated?: boolean },
  ): Promise<Outcome[]>;
  stop(): Promise<void>;
}

export async function startController(
  options: object,
  { clock = systemClock }: { readonly clock?: Clock } = {},
): Promise<Controller> {
  const log = memoryLog();
  const host = await Host.start({
    hooks: createHooks(),
    observers: [],
    deadlines: { deploy: Number.POSITIVE_INFINITY },
    plugins: [{ plugin: deployAgent, options }],
    log,
    clock,
  });
  onCleanup(() => host.close());
  const fleet = host.use(FLEET);
  return {
    fleet,
    log,
    deploy: async (rendered, { mode, validated = false } = {}) => {
      const outcomes: Outcome[] = [];
      const plans = fleet.pods().map(({ name, baseline }): DeployPlan => {
        const same = baseline?.id === rendered.plan.id;
        return {
          pod: name,
          ...(baseline !== undefined && { from: baseline.id }),
          mode: mode ?? (same ? 'noop' : 'reload'),
          reasons: ['test'],
          ops: [],
          inPlaceOps: [],
          files: [],
          binds: rendered.plan.binds,
        };
      });
      const collector = { outcomes, add: (outcome: Outcome) => void outcomes.push(outcome) };
      const signal = AbortSignal.timeout(60_000);
      await host.hooks.deploy.promise({ rendered, plans, validated }, collector, {
        signal,
        caller: 'reconcile',
      });
      return outcomes;
    },
    stop: () => host.close(),
  };
}

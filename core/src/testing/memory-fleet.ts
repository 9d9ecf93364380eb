import {
  definePlugin,
  FLEET,
  TERM,
  z,
  type DeployMode,
  type Deployment,
  type FleetFacts,
  type Hooks,
  type Outcome,
  type OutcomeCollector,
  type Pod,
  type RenderPlan,
  type Term,
} from '../contract/index.ts';
import type { EnabledPlugin } from '../host/index.ts';

export interface MemoryFleet {
  pods: Pod[];
  paths: FleetFacts['paths'];
  readonly deployments: Deployment[];
  /** That only told pods that a plan which they have is validated by now. */
  readonly confirmations: Deployment[];
  /** Plans that were taken back, in order. */
  readonly reverts: string[];
  /** What a pod reports after a revert; without, none carries the plan that goes. */
  lastKnownGood?: RenderPlan;
  /** What becomes of a plan that is taken back, instead. */
  revert?: (plan: string) => Promise<readonly Outcome[]>;
  /** What becomes of a deployment; without, every pod takes it. */
  deploy?: (deployment: Deployment, outcomes: OutcomeCollector, signal: AbortSignal) => Promise<void>;
  changed(): void;
  /** Every pod of the deployment takes it, and reports so. */
  take(deployment: Deployment, outcomes: OutcomeCollector, pods?: readonly string[]): void;
}

export function memoryFleet(): MemoryFleet {
  const fleet: MemoryFleet = {
    pods: [{ name: 'a', ops: [] }],
    paths: { base: '/etc/haproxy', workerSocket: '/run/worker.sock' },
    deployments: [],
    confirmations: [],
    reverts: [],
    changed() {},
    take({ plans, rendered }, outcomes, taken = plans.map(({ pod }) => pod)) {
      for (const { pod, mode, reasons } of plans) {
        if (!taken.includes(pod)) continue;
        outcomes.add({ pod, result: mode, reasons, durationMs: 1 });
        fleet.pods = fleet.pods.map((known) =>
          known.name === pod ? withPlan(known, mode, rendered.plan) : known,
        );
      }
      fleet.changed();
    },
  };
  return fleet;
}

function withPlan(pod: Pod, mode: DeployMode, plan: RenderPlan): Pod {
  return { ...pod, baseline: plan, applied: plan.id, ...(mode === 'reload' && { loaded: plan.id }) };
}

export function fleetPlugin(fleet: MemoryFleet, term: { readonly current: Term }): EnabledPlugin<Hooks> {
  const plugin = definePlugin({
    name: 'fleet',
    apiVersion: 1,
    options: z.strictObject({}),
    setup({ name, hooks, provide }) {
      const listeners = new Set<() => void>();
      fleet.changed = () => listeners.forEach((listener) => listener());
      provide(TERM, {
        current: () => term.current,
        onChange: () => () => undefined,
        raise: (seen) => Promise.resolve(seen + 1),
      });
      provide(FLEET, {
        pods: () => fleet.pods,
        facts: () => {
          const versions = fleet.pods.flatMap(({ haproxyVersion }) => haproxyVersion ?? []);
          const { paths } = fleet;
          return versions[0] === undefined ? { paths } : { paths, haproxyVersion: versions[0] };
        },
        onChange(listener) {
          listeners.add(listener);
          return () => listeners.delete(listener);
        },
        highestEpoch: () => Promise.resolve(0),
        revert: async (plan) => (await fleet.revert?.(plan)) ?? revertPods(fleet, plan),
      });
      hooks.deploy.tapPromise({ name, deadlineMs: Infinity }, async (deployment, outcomes, { signal }) => {
        const { rendered, plans, validated } = deployment;
        const isConfirmation =
          validated &&
          fleet.deployments.at(-1)?.rendered === rendered &&
          plans.every(({ mode }) => mode === 'noop');
        (isConfirmation ? fleet.confirmations : fleet.deployments).push(deployment);
        if (fleet.deploy === undefined) fleet.take(deployment, outcomes);
        else await fleet.deploy(deployment, outcomes, signal);
      });
    },
  });
  return { plugin };
}

/** Pods whose own HAProxy loaded the plan stay as they are. */
function revertPods(fleet: MemoryFleet, plan: string): Outcome[] {
  fleet.reverts.push(plan);
  const { lastKnownGood } = fleet;
  if (lastKnownGood === undefined) return [];
  const carries = ({ applied, loaded }: Pod): boolean => applied === plan && loaded !== plan;
  const outcomes = fleet.pods
    .filter(carries)
    .map(({ name }): Outcome => ({ pod: name, result: 'reload', reasons: ['revert_lkg'], durationMs: 1 }));
  const { id } = lastKnownGood;
  fleet.pods = fleet.pods.map((pod) =>
    carries(pod) ? { ...pod, baseline: lastKnownGood, applied: id, loaded: id } : pod,
  );
  fleet.changed();
  return outcomes;
}

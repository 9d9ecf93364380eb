import type { FileEntry, RenderPlan, Rendered } from './render-plan.ts';

/** What the controller knows of one HAProxy pod. */
export interface Pod {
  readonly name: string;
  /** Full version of its HAProxy, e.g. `3.4.7`; undefined until its agent answered. */
  readonly haproxyVersion?: string;
  /** The plan that it reports to run; undefined: unknown, so everything is sent and loaded. */
  readonly baseline?: RenderPlan;
  /** Names of the operations that its agent knows. */
  readonly ops: readonly string[];
}

export type DeployMode = 'noop' | 'runtime' | 'file_only' | 'reload';

/** How one pod gets from its baseline to the next plan. */
export interface DeployPlan {
  readonly pod: string;
  readonly mode: DeployMode;
  /** Machine-readable: `profile_new:be-1a2b`, `core_changed:frontend http`. Empty for noop. */
  readonly reasons: readonly string[];
  /** Files whose content the pod lacks. */
  readonly files: readonly FileEntry[];
}

export interface PlanInput {
  readonly next: RenderPlan;
  readonly pod: Pod;
}

/** One deployment: the same rendered set for every pod, a plan for each. */
export interface Deployment {
  readonly rendered: Rendered;
  readonly plans: readonly DeployPlan[];
  /** True when every judge, `haproxy -c` included, passed this plan. */
  readonly validated: boolean;
}

export type OutcomeResult = DeployMode | 'scheduled' | 'rejected' | 'unreachable';

/** What became of one pod's plan. `rejected` and `unreachable` say why. */
export interface Outcome {
  readonly pod: string;
  readonly result: OutcomeResult;
  readonly reasons: readonly string[];
  /** Where it was rejected: `limits`, `fence`, `stage`, `bind`, `reload`, … */
  readonly stage?: string;
  /** HAProxy's or the agent's own words. */
  readonly message?: string;
  readonly durationMs: number;
}

/** Taps of `deploy` report here; one outcome a pod, failures included. */
export interface OutcomeCollector {
  add(outcome: Outcome): void;
  readonly outcomes: readonly Outcome[];
}

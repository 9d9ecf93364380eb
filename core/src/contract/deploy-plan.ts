import type { Operation } from './operation.ts';
import type { Bind, Digest, FileEntry, RenderPlan, Rendered } from './render-plan.ts';

/** What the controller knows of one HAProxy pod. */
export interface Pod {
  readonly name: string;
  /** Of the Pod object, where there is one. */
  readonly uid?: string;
  /** Full version of its HAProxy, e.g. `3.4.7`; undefined until its agent answered. */
  readonly haproxyVersion?: string;
  /** The plan that it reports to run; undefined: unknown, so everything is sent and loaded. */
  readonly baseline?: RenderPlan;
  /** The plan that its agent last committed, whether or not it is known what its worker makes of it. */
  readonly applied?: Digest;
  /** The plan whose files its own HAProxy read when it was last started or reloaded. */
  readonly loaded?: Digest;
  /** A plan that it is not to be sent now: it waits for its turn. The fleet reports a change when it has come. */
  readonly held?: Digest;
  /**
   * Names of the profiles that stood in its file at the last reload: one of them that comes back needs none. Undefined: those of the
   * baseline, since whatever brings a new profile is a reload.
   */
  readonly loadedProfiles?: ReadonlySet<string>;
  /** Names of the operations that its agent knows; some may be none of `OperationName`. */
  readonly ops: readonly string[];
}

/** Nothing to do; operations on the running worker; files that no worker reads before it is started again; a reload. */
export type DeployMode = 'noop' | 'runtime' | 'file_only' | 'reload';

/** How one pod gets from its baseline to the next plan. */
export interface DeployPlan {
  readonly pod: string;
  /** Id of the baseline: for a pod that has another one by now only a `reload` is right. Undefined: whatever it has. */
  readonly from?: Digest;
  readonly mode: DeployMode;
  /**
   * Machine-readable: with `reload` what makes one necessary (`profile_new:be-1a2b`, `core_changed:frontend http`), else what
   * changes (`map_changed:maps/hosts.map`). Empty for noop.
   */
  readonly reasons: readonly string[];
  /** With `runtime` what brings the worker from the baseline to the next plan, in this order; else empty. */
  readonly ops: readonly Operation[];
  /** With `reload` the changes of endpoints, which never wait for one that is paced; else empty. */
  readonly inPlaceOps: readonly Operation[];
  /** Files whose content the pod lacks. */
  readonly files: readonly FileEntry[];
  /** Every address that the next plan binds. */
  readonly binds: readonly Bind[];
  /**
   * With `inPlaceOps`, where the core can tell: how the pod gets these alone, on top of what it has, for as long as it must not load
   * the next plan.
   */
  readonly meanwhile?: () => Meanwhile | undefined;
}

/** What a pod has, with other endpoints. */
export interface Meanwhile {
  readonly rendered: Rendered;
  readonly plan: DeployPlan;
}

/** One pod, and what it is to run next. */
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

/**
 * `scheduled`: its agent has the plan, and loads it when it may. `held`: it was not sent, since its pod waits for its turn
 * (`Pod.held`); the last of the reasons says for what: `wave_waits:<pod>`, `wave_halted:<pod>`, `wave_turn`.
 */
export type OutcomeResult = DeployMode | 'scheduled' | 'held' | 'rejected' | 'unreachable';

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

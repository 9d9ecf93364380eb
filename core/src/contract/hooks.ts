import type {
  AsyncSeriesBailHook,
  AsyncSeriesHook,
  HookMap,
  SyncBailHook,
  SyncHook,
  SyncWaterfallHook,
} from 'tapable';
import type { ConfigSet, ConfigSource, ConfigVersion, MergedConfig } from './config.ts';
import type { DeployPlan, Deployment, Outcome, OutcomeCollector, PlanInput } from './deploy-plan.ts';
import type { RejectionReason } from './errors.ts';
import type { Candidate, Finding, FindingCollector, Verdict } from './finding.ts';
import type { QuarantineChange } from './quarantine.ts';
import type { RenderPlan, Rendered } from './render-plan.ts';
import type { RenderInput } from './render-input.ts';

/** Who calls the pipeline, and so who is answered: docs/validation.md says which judges each of them waits for. */
export type Caller = 'reconcile' | 'admission' | 'load-gate' | 'promotion' | 'preflight' | 'validate';

/** What every tap of a stage is told besides its subject. */
export interface HookContext {
  /** Aborted when the answer is no longer wanted: an abort is not a verdict. */
  readonly signal: AbortSignal;
  readonly caller: Caller;
  /** Nobody waits for this answer: whatever somebody waits for goes first. */
  readonly background?: boolean;
}

/** The one source of the config set reports it here. */
export interface ConfigSetCollector {
  /** Says what all that follows is about, before anything can be refused: a set that is none has a version, too. */
  version(version: ConfigVersion): void;
  /** In merge order: libraries, then the config. @throws PluginError when a second source provides a set. */
  provide(sources: readonly ConfigSource[]): void;
}

/** The hooks of the controller, frozen. The core calls them, plugins tap them; docs/plugins.md has the rules for taps. */
export interface Hooks {
  readonly load: AsyncSeriesHook<[ConfigSetCollector, HookContext]>;
  readonly merge: SyncWaterfallHook<[MergedConfig, ConfigSet]>;
  readonly render: AsyncSeriesBailHook<[RenderInput, HookContext], Rendered>;
  /** By judge kind. Plugins see the hook of their own kind only. */
  readonly validate: HookMap<AsyncSeriesHook<[Candidate, FindingCollector, HookContext]>>;
  readonly plan: SyncBailHook<[PlanInput], DeployPlan>;
  readonly deploy: AsyncSeriesHook<[Deployment, OutcomeCollector, HookContext]>;

  // Observers: a throw is logged and counted, never propagated.
  readonly rendered: SyncHook<[RenderPlan, { readonly durationMs: number; readonly caller: Caller }]>;
  readonly judged: SyncHook<[RenderPlan, Verdict, { readonly durationMs: number; readonly caller: Caller }]>;
  readonly applied: SyncHook<[RenderPlan, readonly Outcome[], AppliedFacts]>;
  /**
   * A render that every judge passed and that was handed to the pods: from now on everything that moves with a deployment
   * (resources, statuses, events, what is published of the files) is this one's. Only told in a term.
   */
  readonly released: SyncHook<[Rendered, ReleaseFacts]>;
  /** A render that failed or was refused on the reconcile path: what serves goes on serving. */
  readonly refused: SyncHook<[Refusal]>;
  /** Objects were put into quarantine or let out of it. */
  readonly quarantined: SyncHook<[QuarantineChange]>;
  /** Told again when another version of the object says the same. */
  readonly configAccepted: SyncHook<[MergedConfig, ConfigVersion | undefined]>;
  readonly configRejected: SyncHook<[Error, Rejection]>;
  readonly leadership: SyncHook<[{ readonly leader: boolean; readonly epoch: number }]>;
}

/** What there is to know about a configuration that must not serve. */
export interface Rejection {
  readonly reason: RejectionReason;
  readonly version?: ConfigVersion;
}

/** What a deployment was about. */
export interface AppliedFacts {
  /** Of the deployment alone, milliseconds. */
  readonly durationMs: number;
  /** Objects that changed since the last render, for people: `updated ingresses default/shop`; none for a new configuration. */
  readonly changes: readonly string[];
  /** From the first of these changes to the last outcome, milliseconds. */
  readonly sinceChangeMs: number;
}

/** What there is to know about a release. */
export interface ReleaseFacts {
  /** Warnings that ride on the success. */
  readonly findings: readonly Finding[];
  readonly config: MergedConfig;
  readonly epoch: number;
}

/** Why nothing was deployed, or why what was deployed is taken back. */
export type Refusal =
  | { readonly stage: 'render'; readonly error: Error }
  | {
      readonly stage: 'validate';
      readonly plan: RenderPlan;
      readonly verdict: Verdict;
      /** It went out before HAProxy had judged it. */
      readonly takenBack?: Pick<AppliedFacts, 'changes'>;
    };

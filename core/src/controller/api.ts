import type {
  Clock,
  Hooks,
  Log,
  MergedConfig,
  Meter,
  QuarantinedObject,
  RenderInput,
  RenderPlan,
  Rendered,
  Verdict,
} from '../contract/index.ts';
import type { GateStatus } from '../gate/index.ts';
import type { EnabledPlugin, Host } from '../host/index.ts';
import type { Pipeline } from '../pipeline/index.ts';
import type { Proposal } from '../store/index.ts';
import type { ProposalAnswer } from './proposal.ts';
import type { Validated, ValidateOptions } from './validate-once.ts';

export interface ControllerOptions {
  /** With their options, in order; `createController` sets them up. */
  readonly plugins: readonly EnabledPlugin<Hooks>[];
  readonly log: Log;
  readonly meter?: Meter;
  readonly clock?: Clock;
}

/** What the controller serves, for health and debugging. */
export interface ControllerStatus {
  /** `waiting`: no configuration was accepted yet. `serving`: one is, and the store is synced. */
  readonly phase: 'idle' | 'waiting' | 'serving' | 'stopped';
  /** The configuration that serves. */
  readonly config?: MergedConfig;
  /** The last plan that every judge passed. */
  readonly plan?: RenderPlan;
  /** What that plan was rendered from. */
  readonly input?: RenderInput;
  /** Id of the plan that pods are to run: that of `plan`, or a newer one that HAProxy has not judged yet. */
  readonly dispatched?: string;
  /** Whether renders go out before HAProxy has judged them, and what it is still to judge; absent before `run`. */
  readonly gate?: GateStatus;
  /** Objects that are refused, with what is served in their place. */
  readonly quarantine?: readonly QuarantinedObject[];
  /** Why the newest configuration or render is not the serving one. */
  readonly problem?: Error;
}

/** One render over the live store. */
export interface RenderedOnce {
  readonly config: MergedConfig;
  readonly rendered: Rendered;
  /** Of all judges; undefined when none was asked. */
  readonly verdict?: Verdict;
}

/** A host of plugins with the pipeline and the reconcile loop around it. Nothing runs before `run` or `renderOnce`. */
export interface Controller extends AsyncDisposable {
  readonly host: Host<Hooks>;
  readonly pipeline: Pipeline;
  status(): ControllerStatus;
  /**
   * Reconciles until the signal aborts, then resolves when the work in hand has ended. An invalid configuration is no reason to
   * end: it is logged, reported to `configRejected`, and tried again when it changes.
   */
  run(signal: AbortSignal): Promise<void>;
  /**
   * Loads, fills the store once, renders and, unless told otherwise, judges. Deploys nothing.
   *
   * @throws Refused for a configuration or a render that is refused.
   */
  renderOnce(signal: AbortSignal, options?: { readonly judge?: boolean }): Promise<RenderedOnce>;
  /**
   * Loads, merges, compiles, and runs the tests that the configuration brings, or only some of them.
   *
   * @throws Refused for a configuration that is refused, or a test that it does not have.
   */
  validate(signal: AbortSignal, options?: ValidateOptions): Promise<Validated>;
  /** Called when the source says that the configuration may have changed; `run` listens for itself. */
  onConfigChange(listener: () => void): void;
  /**
   * What every judge says to a change of one watched object, on what is served now.
   *
   * @throws Retry while no configuration serves.
   */
  judgeProposal(proposal: Proposal, signal: AbortSignal): Promise<ProposalAnswer>;
  /** Disposes the plugins in reverse order. */
  close(): Promise<void>;
}

import type { OwnedKey } from '../config/index.ts';
import type {
  Clock,
  ControllerStatus,
  Hooks,
  Log,
  MergedConfig,
  Meter,
  Proposal,
  ProposalAnswer,
  Rendered,
  Verdict,
} from '../contract/index.ts';
import type { EnabledPlugin, Host } from '../host/index.ts';
import type { Pipeline } from '../pipeline/index.ts';
import type { Validated, ValidateOptions } from './validate-once.ts';

export interface ControllerOptions {
  /** With their options, in order; `createController` sets them up. */
  readonly plugins: readonly EnabledPlugin<Hooks>[];
  readonly log: Log;
  readonly meter?: Meter;
  /** Keys of the config kind that plugins own which are not here: judged where they are used, and without effect. */
  readonly foreignKeys?: readonly OwnedKey[];
  readonly clock?: Clock;
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
  /** Says that it is about to stop, so that nobody new comes: `status` is `stopping` from now on. It works on. */
  announceStop(): void;
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

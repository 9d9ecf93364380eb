import type { MergedConfig } from './config.ts';
import type { Finding } from './finding.ts';
import type { KubeObject } from './object.ts';
import type { QuarantinedObject } from './quarantine.ts';
import type { RenderInput } from './render-input.ts';
import type { RenderPlan } from './render-plan.ts';
import { serviceKey, type ServiceKey } from './service-key.ts';

/**
 * Why renders are judged before they go out: nothing passed in this term yet; HAProxy refused one; HAProxy gave no verdict on one
 * that is out there.
 */
export type LatchReason = 'first-render' | 'refused' | 'no-verdict';

/** Open: renders go out before HAProxy has judged them. Latched: only afterwards. */
export type LatchState =
  | { readonly state: 'open' }
  /** `since`: milliseconds since the epoch. */
  | { readonly state: 'latched'; readonly reason: LatchReason; readonly since: number };

/** What there is to know of the render gate. */
export type GateStatus = LatchState & {
  /** Plans that went out and that HAProxy has not judged yet. */
  readonly pending: readonly string[];
};

/** What the controller serves, for health and debugging. */
export interface ControllerStatus {
  /**
   * `waiting`: no configuration was accepted yet. `serving`: one is, and the store is synced. `stopping`: still at work, but nobody
   * should come any more.
   */
  readonly phase: 'idle' | 'waiting' | 'serving' | 'stopping' | 'stopped';
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

/** A change of one watched object that somebody asks about before it happens. */
export type Proposal =
  | { readonly watch: string; readonly object: KubeObject }
  | { readonly watch: string; readonly delete: { readonly namespace: string; readonly name: string } };

/** What is to be told to whoever proposes a change. */
export type ProposalAnswer =
  /** The findings are warnings to them. */
  | { readonly allowed: true; readonly findings: readonly Finding[] }
  /** Refused for what they wrote, Retry where there is no verdict. */
  | { readonly allowed: false; readonly error: Error };

/** One line of the health body. */
export interface HealthReport {
  readonly plugin: string;
  readonly name: string;
  /** Undefined: fine. */
  readonly problem: string | undefined;
}

/** A plugin that is loaded, and where it came from. */
export interface LoadedPlugin {
  readonly name: string;
  /** As the preset or the host configuration names it: a package or a path. */
  readonly use: string;
  readonly version?: string;
}

/** What plugins may ask of the controller. During `setup` it is `idle`, and nothing else can be asked. */
export interface ControllerAccess {
  status(): ControllerStatus;
  /** The checks of all plugins. */
  health(): Promise<readonly HealthReport[]>;
  /** What is loaded, in order. */
  plugins(): readonly LoadedPlugin[];
  /**
   * What every judge says to a change of one watched object, on what is served now.
   *
   * @throws Retry while no configuration serves, Cancelled.
   */
  judgeProposal(proposal: Proposal, signal: AbortSignal): Promise<ProposalAnswer>;
}
/** Provided by the core. */
export const CONTROLLER: ServiceKey<ControllerAccess> = serviceKey('controller');

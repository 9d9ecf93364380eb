import type { MergedConfig } from './config.ts';
import type { Contents } from './contents.ts';
import type { Digest, RenderPlan } from './render-plan.ts';
import type { StoreView } from './view.ts';

/** Facts about the fleet that templates may ask for; part of the view, so a change of them is a new render. */
export interface FleetFacts {
  /** Lowest version of the fleet, before any pod is known the judge's binary: `3.4.7`. */
  readonly haproxyVersion: string;
  readonly paths: {
    /** The base directory of a pod's file tree. */
    readonly base: string;
    /** The worker's `stats socket`, absolute. */
    readonly workerSocket: string;
  };
}

/**
 * A profile that backends had of late. It stays in the file, so that workers have it when the next backend wants it.
 */
export interface RetainedProfile {
  readonly name: string;
  /** The defaults that it inherits from. */
  readonly base: string;
  /** Its whole section. */
  readonly text: string;
  readonly secret: boolean;
  /** Digest of the core sections beside it: with others it may name what is no longer there. */
  readonly core: Digest;
}

/** Answers in the place of every server. */
export interface StandIn {
  /** Literal IP address. */
  readonly address: string;
  readonly port: number;
}

/** Everything a render depends on: a pure function of it. */
export interface RenderInput {
  readonly config: MergedConfig;
  readonly view: StoreView;
  readonly fleet: FleetFacts;
  /** What templates read that is not in the store; nothing when absent. */
  readonly contents?: Contents;
  /** The last accepted plan, for `current` in templates. */
  readonly current?: RenderPlan;
  /** The plan that pods are on their way to, where it is not the last accepted one: what is laid out anew should cost them little. */
  readonly dispatched?: RenderPlan;
  /** Where all servers stand, for a HAProxy of a test that must reach nobody. */
  readonly standIn?: StandIn;
  /** Written where no backend has them. Which ones is decided between renders: time is no part of a render. */
  readonly retainedProfiles?: readonly RetainedProfile[];
}

import type { MergedConfig } from './config.ts';
import type { RenderPlan } from './render-plan.ts';
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

/** Everything a render depends on: a pure function of it. */
export interface RenderInput {
  readonly config: MergedConfig;
  readonly view: StoreView;
  readonly fleet: FleetFacts;
  /** The last accepted plan, for `current` in templates. */
  readonly current?: RenderPlan;
}

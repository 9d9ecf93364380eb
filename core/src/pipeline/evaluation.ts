import type {
  Contents,
  FleetFacts,
  JudgeKind,
  MergedConfig,
  Rendered,
  RenderPlan,
  RetainedProfile,
  StandIn,
  StoreView,
  Verdict,
} from '../contract/index.ts';

/** HAProxy first: what it can not read nobody else needs to judge, and its words are the clearest. */
export const ALL_JUDGES: readonly JudgeKind[] = Object.freeze(['haproxy', 'external', 'custom']);

/** What a render is about. */
export interface RenderSubject {
  /** As `prepare` gave it. */
  readonly config: MergedConfig;
  readonly view: StoreView;
  readonly fleet: FleetFacts;
  readonly contents?: Contents;
  /** The last accepted plan. */
  readonly current?: RenderPlan;
  readonly retainedProfiles?: readonly RetainedProfile[];
  readonly standIn?: StandIn;
}

/** What one run of the pipeline is about. */
export interface Subject extends RenderSubject {
  /** Who judges, in this order; `ALL_JUDGES` for whoever publishes. */
  readonly judges: readonly JudgeKind[];
}

/** A complete answer. A render that failed or was called off is thrown instead, so nobody can mistake it for one. */
export interface Evaluation {
  readonly rendered: Rendered;
  readonly verdict: Verdict;
  readonly durations: { readonly renderMs: number; readonly judgeMs: number };
}

import type { FleetFacts, JudgeKind, MergedConfig, Rendered, RenderPlan, StoreView, Verdict } from '../contract/index.ts';

/** What one run of the pipeline is about. */
export interface Subject {
  readonly config: MergedConfig;
  readonly view: StoreView;
  readonly fleet: FleetFacts;
  /** The last accepted plan. */
  readonly current?: RenderPlan;
  /** Who judges. Every caller that publishes names all kinds; none: the render alone is asked for. */
  readonly judges: readonly JudgeKind[];
}

/** A complete answer. A render that failed or was called off is thrown instead, so nobody can mistake it for one. */
export interface Evaluation {
  readonly rendered: Rendered;
  readonly verdict: Verdict;
  readonly durations: { readonly renderMs: number; readonly judgeMs: number };
}

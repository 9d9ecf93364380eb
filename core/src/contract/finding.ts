import type { MergedConfig } from './config.ts';
import type { ObjectRef } from './object.ts';
import type { FleetFacts } from './render-input.ts';
import type { Provenance, Rendered } from './render-plan.ts';
import type { StoreView } from './view.ts';

/** `haproxy`: the one that runs `haproxy -c`. `external`: asks processes outside. `custom`: an operator's own. */
export type JudgeKind = 'haproxy' | 'external' | 'custom';

/** What one judge says about one place. An error refuses; a warning rides on the success. */
export interface Finding {
  /** Name of the plugin or validator. */
  readonly judge: string;
  readonly phase: JudgeKind;
  readonly severity: 'error' | 'warning';
  readonly message: string;
  /** File of the set, relative. */
  readonly path?: string;
  /** From 1. */
  readonly line?: number;
  readonly column?: number;
  /** Whose fault it is, where the judge knows that by itself (`refOf`); else it follows from the place. */
  readonly objects?: readonly ObjectRef[];
  /** What declared that line. Filled in by the core when `path` and `line` are known. */
  readonly provenance?: Provenance;
}

/** A finding as a judge reports it: the core adds who and where from. */
export type ReportedFinding = Omit<Finding, 'judge' | 'phase' | 'provenance'> & { readonly judge?: string };

/** Taps of `validate` report here; only the core decides. */
export interface FindingCollector {
  add(finding: ReportedFinding): void;
  /**
   * For a judge that asks others: this one gave no answer. It is an error finding in its name and no verdict; what the others
   * said counts.
   */
  unanswered(judge: string, message: string): void;
}

/** What judges judge. Frozen: a judge cannot edit it. */
export interface Candidate {
  readonly rendered: Rendered;
  /** What it was rendered from. */
  readonly config: MergedConfig;
  readonly view: StoreView;
  readonly fleet: FleetFacts;
}

/**
 * The one answer of all judges. `interrupted` is no verdict: a judge did not finish, or authority was lost; it blocks and is
 * never remembered.
 */
export type Verdict =
  | { readonly kind: 'passed'; readonly findings: readonly Finding[] }
  | { readonly kind: 'refused'; readonly findings: readonly Finding[] }
  | { readonly kind: 'interrupted'; readonly reason: string; readonly findings: readonly Finding[] };

import type { Verdict } from '../contract/finding.ts';
import type { Rendered } from '../contract/render-plan.ts';

/** What became of a test's render. */
export type RenderOutcome =
  | { readonly kind: 'rendered'; readonly rendered: Rendered; readonly verdict: Verdict }
  | { readonly kind: 'refused'; readonly message: string };

/** Whether a claim holds; `unjudged` is neither: it takes what is not there. */
export type Judgement =
  | { readonly kind: 'holds' }
  | { readonly kind: 'fails'; readonly failure: string }
  | { readonly kind: 'unjudged'; readonly reason: string };

export const HOLDS: Judgement = { kind: 'holds' };

export function fails(failure: string): Judgement {
  return { kind: 'fails', failure };
}

export function unjudged(reason: string): Judgement {
  return { kind: 'unjudged', reason };
}

export interface AssertionResult {
  readonly type: string;
  readonly description?: string;
  readonly target?: string;
  /** What is wrong, with an excerpt. */
  readonly failure?: string;
  /** Why nobody could judge it. Without a failure and without this it holds. */
  readonly unjudged?: string;
}

export interface TestResult {
  readonly name: string;
  /** The source that the test is from. */
  readonly source: string;
  /** `skipped`: as its author wants it, for a newer HAProxy. `unjudged`: nothing failed, but not everything could be judged. */
  readonly status: 'passed' | 'failed' | 'skipped' | 'unjudged';
  /** Why it was skipped, or failed as a whole. */
  readonly reason?: string;
  readonly assertions: readonly AssertionResult[];
  /** A judge gave no verdict: another run may end otherwise. */
  readonly isInterrupted?: boolean;
  readonly durationMs: number;
}

export interface TestReport {
  /** By name. */
  readonly tests: readonly TestResult[];
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly unjudged: number;
  readonly durationMs: number;
}

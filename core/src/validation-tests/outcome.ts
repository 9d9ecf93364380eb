import type { Verdict } from '../contract/finding.ts';
import type { Rendered } from '../contract/render-plan.ts';

/** What became of a test's render. */
export type RenderOutcome =
  | { readonly kind: 'rendered'; readonly rendered: Rendered; readonly verdict: Verdict }
  | { readonly kind: 'refused'; readonly message: string };

export interface AssertionResult {
  readonly type: string;
  readonly description?: string;
  readonly target?: string;
  /** What is wrong, with an excerpt; undefined: it holds. */
  readonly failure?: string;
}

export interface TestResult {
  readonly name: string;
  /** The source that the test is from. */
  readonly source: string;
  readonly status: 'passed' | 'failed' | 'skipped';
  /** Why it was skipped, or failed as a whole. */
  readonly reason?: string;
  readonly assertions: readonly AssertionResult[];
  readonly durationMs: number;
}

export interface TestReport {
  /** By name. */
  readonly tests: readonly TestResult[];
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly durationMs: number;
}

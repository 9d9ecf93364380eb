import type { Candidate, Finding, JudgeKind, Rendered, RenderInput, Verdict } from '../contract/index.ts';

/** Those whose answer never waits. */
export const OTHER_JUDGES: readonly JudgeKind[] = Object.freeze(['external', 'custom']);

/** What a render is about; the configuration as `prepare` gave it. */
export type RenderSubject = RenderInput;

/** A complete answer. A render that failed or was called off is thrown instead, so nobody can mistake it for one. */
export interface Evaluation {
  readonly rendered: Rendered;
  /** Of all judges. */
  readonly verdict: Verdict;
  /** HAProxy's part of it. */
  readonly haproxy: Verdict;
  readonly durations: { readonly renderMs: number; readonly judgeMs: number };
}

/**
 * A render that everybody passed but HAProxy, who was not asked yet. No answer: it is to be settled, and may go to pods meanwhile
 * where the gate says so.
 */
export interface Deferred {
  readonly candidate: Candidate;
  /** What the others said. */
  readonly findings: readonly Finding[];
  readonly durations: Evaluation['durations'];
}

/** What became of a render whose verdict may wait for HAProxy; it does only where everybody else passed it. */
export type Opening =
  | { readonly kind: 'settled'; readonly evaluation: Evaluation }
  | { readonly kind: 'deferred'; readonly deferred: Deferred };

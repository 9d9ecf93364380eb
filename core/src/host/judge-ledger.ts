import type { FindingCollector } from '../contract/finding.ts';

/** The record of one judge in one run. After `finish` or `fail` nothing more is taken from it. */
export interface JudgeRecord {
  /** What the judge gets: findings are put down under its name. */
  readonly collector: FindingCollector;
  finish(): void;
  fail(error: unknown): void;
}

/** What hooks of judges are called with: it notes who began, who finished, and what failed. */
export interface JudgeLedger extends FindingCollector {
  open(judge: string, signal: AbortSignal | undefined): JudgeRecord;
}

export function isJudgeLedger(value: unknown): value is JudgeLedger {
  return typeof value === 'object' && value !== null && 'open' in value && typeof value.open === 'function';
}

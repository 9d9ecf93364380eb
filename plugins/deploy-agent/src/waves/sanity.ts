/** What one look at a worker tells. */
export interface Sample {
  /** Null while none answers. */
  readonly worker: { readonly pid: number; readonly startedAt: number } | null;
  /** Undefined or null where nobody counts. */
  readonly health?: { readonly requests: number; readonly serverErrors: number } | null | undefined;
}

/** Fewer errors say nothing about a plan. */
const FEW_ERRORS = 10;
/** How much larger the share of errors may be than it was: so many times, and so much more. */
const MOST_TIMES = 2;
const MOST_MORE = 0.05;

/**
 * What is wrong with a worker that was looked at before a change, after it, and a while later; undefined when it is sane: it is the
 * same one still, it answers, and it fails no larger share of its requests than before.
 */
export function insanity(before: Sample | undefined, after: Sample, later: Sample): string | undefined {
  if (later.worker === null || after.worker === null) return 'HAProxy does not answer any more';
  if (!sameWorker(after, later)) {
    return `HAProxy ${after.worker.pid} is gone, ${later.worker.pid} runs instead`;
  }
  const since = countsBetween(after, later);
  if (since === undefined || since.serverErrors < FEW_ERRORS) return undefined;
  const share = shareOf(since);
  const usual = before?.health ? shareOf(before.health) : 0;
  if (share <= usual * MOST_TIMES + MOST_MORE) return undefined;
  return `${percent(share)} of the requests fail, ${percent(usual)} did before`;
}

function sameWorker({ worker: a }: Sample, { worker: b }: Sample): boolean {
  return a?.pid === b?.pid && a?.startedAt === b?.startedAt;
}

function countsBetween(
  { health: a }: Sample,
  { health: b }: Sample,
): { readonly requests: number; readonly serverErrors: number } | undefined {
  if (a == null || b == null) return undefined;
  return { requests: b.requests - a.requests, serverErrors: b.serverErrors - a.serverErrors };
}

function shareOf(counts: { readonly requests: number; readonly serverErrors: number }): number {
  return counts.requests > 0 ? counts.serverErrors / counts.requests : 0;
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

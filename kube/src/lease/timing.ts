import { Refused } from '@haptic/core/contract';

/** Milliseconds. */
export interface LeaseTiming {
  /** Without a renewal for this long, candidates may take the Lease. */
  readonly leaseDuration: number;
  /** A holder that could not renew for this long has ended its term. */
  readonly renewDeadline: number;
  /** Between two renewals, and between two looks of a candidate. */
  readonly retryPeriod: number;
}

export const defaultLeaseTiming: LeaseTiming = {
  leaseDuration: 15_000,
  renewDeadline: 10_000,
  retryPeriod: 2_000,
};

/** A Lease that promises more than this was not written by us. */
const LONGEST_PROMISE = 300_000;

/**
 * How long a candidate waits after it saw the record change. It sees a renewal up to a retry period late, so this much is taken
 * off, and the Lease is taken again within its duration; but never so much that a holder with another timing still leads. What is
 * between its deadline and its promise is halved: clocks do not run alike.
 */
export function patience(
  { leaseDuration, retryPeriod }: LeaseTiming,
  holder: { readonly duration: number; readonly deadline: number },
): number {
  const promised = Math.min(holder.duration, LONGEST_PROMISE);
  const deadline = Math.min(holder.deadline, promised);
  return Math.max(Math.max(leaseDuration, promised) - retryPeriod, (deadline + promised) / 2);
}

/** @throws Refused when a term could outlast the patience of the others */
export function checkTiming(timing: LeaseTiming): void {
  const { leaseDuration, renewDeadline, retryPeriod } = timing;
  if (retryPeriod > 0 && renewDeadline > 2 * retryPeriod && leaseDuration > renewDeadline + retryPeriod)
    return;
  throw new Refused(
    `lease: expected leaseDuration > renewDeadline + retryPeriod and renewDeadline > 2 * retryPeriod, ` +
      `got ${leaseDuration}, ${renewDeadline} and ${retryPeriod} ms`,
  );
}

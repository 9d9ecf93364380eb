/** A fifth of the real ones. */
export const timing = { leaseDuration: 3_000, renewDeadline: 2_000, retryPeriod: 400 };

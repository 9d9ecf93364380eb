/** Counts what a render uses up. */
export interface Meter {
  /** @throws SiteError, DeadlinePassed */
  charge(steps: number, site: number): void;
}

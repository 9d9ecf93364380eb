/** Counts what a render uses up. */
export interface StepCounter {
  /** @throws SiteError, DeadlinePassed */
  charge(steps: number, site: number): void;
}

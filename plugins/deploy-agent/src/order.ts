import type { DeployPlan, Rendered } from '@haptic/core/contract';

/** What one pod is to be brought to, and how. */
export interface Order {
  readonly plan: DeployPlan;
  readonly rendered: Rendered;
  /** All judges passed it. */
  readonly validated: boolean;
}

import { Bug, type DeployPlan, type Outcome, type OutcomeCollector } from '../contract/index.ts';

/** Takes one outcome for each pod of a deployment, as they come. */
export class OutcomeLedger implements OutcomeCollector {
  readonly #open: Set<string>;
  readonly #outcomes: Outcome[] = [];
  readonly #onOutcome: (outcome: Outcome) => void;

  constructor(plans: readonly DeployPlan[], onOutcome: (outcome: Outcome) => void) {
    this.#open = new Set(plans.map(({ pod }) => pod));
    this.#onOutcome = onOutcome;
  }

  /** @throws Bug for a pod that is not part of the deployment, or has its outcome already. */
  add(outcome: Outcome): void {
    if (!this.#open.delete(outcome.pod)) {
      throw new Bug(`an outcome of pod "${outcome.pod}" was reported that nobody waits for`);
    }
    const frozen = Object.freeze({ ...outcome });
    this.#outcomes.push(frozen);
    this.#onOutcome(frozen);
  }

  /** Pods that nobody reported: nothing is known of them, and that is what is put down. */
  fail(message: string): void {
    for (const pod of this.#open) {
      this.add({ pod, result: 'unreachable', reasons: [], message, durationMs: 0 });
    }
  }

  get outcomes(): readonly Outcome[] {
    return Object.freeze([...this.#outcomes]);
  }
}

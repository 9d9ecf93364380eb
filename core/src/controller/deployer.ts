import {
  Bug,
  Cancelled,
  type Clock,
  type DeployPlan,
  type Deployment,
  type Fleet,
  type Hooks,
  type Log,
  type Outcome,
  type Pod,
  type Rendered,
} from '../contract/index.ts';
import type { Cause } from './changed-objects.ts';
import { OutcomeLedger } from './outcome-ledger.ts';
import { PodAttempts } from './pod-attempts.ts';

export interface DeployerParts {
  readonly hooks: Pick<Hooks, 'plan' | 'deploy' | 'applied'>;
  readonly fleet: Fleet;
  readonly clock: Clock;
  readonly log: Log;
  /** Asks for a `refresh` in so many milliseconds. */
  readonly retryIn: (ms: number) => void;
}

interface Wanted {
  readonly rendered: Rendered;
  readonly cause: Cause;
}

/**
 * Brings pods to the newest accepted render. It never waits for a pod: one that hangs is left alone until it answers, while the
 * others go on getting what is new.
 */
export class Deployer {
  readonly #parts: DeployerParts;
  readonly #attempts: PodAttempts;
  readonly #running = new Set<Promise<void>>();
  #wanted: Wanted | undefined;
  #signal: AbortSignal | undefined;
  #released: string | undefined;

  constructor(parts: DeployerParts) {
    this.#parts = parts;
    this.#attempts = new PodAttempts(parts.clock);
  }

  /** From now on every pod is to run this. All judges have passed it. */
  update(rendered: Rendered, cause: Cause, signal: AbortSignal): void {
    this.#wanted = { rendered, cause };
    this.#signal = signal;
    this.refresh();
  }

  /** Looks at all pods again. */
  refresh(): void {
    if (this.#wanted === undefined || this.#signal?.aborted !== false) return;
    const { rendered } = this.#wanted;
    const pods = this.#parts.fleet.pods();
    this.#attempts.keepOnly(pods);
    const plans = pods
      .filter((pod) => this.#attempts.mayTry(pod, rendered.plan))
      .map((pod) => this.#plan(pod, rendered));
    for (const { pod, mode } of plans) if (mode === 'noop') this.#attempts.settled(pod);
    const nothingNew = rendered.plan.releaseId === this.#released;
    if (plans.length > 0 && !(nothingNew && plans.every(({ mode }) => mode === 'noop'))) {
      this.#start(this.#wanted, plans, pods, this.#signal);
    }
    const next = this.#attempts.nextTry();
    if (next !== undefined) this.#parts.retryIn(next);
  }

  /** Resolves when no deployment runs any more. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  #plan(pod: Pod, { plan: next }: Rendered): DeployPlan {
    const plan = this.#parts.hooks.plan.call(Object.freeze({ next, pod }));
    if (plan === undefined) throw new Bug('nobody planned');
    return plan;
  }

  #start(
    { rendered, cause }: Wanted,
    plans: readonly DeployPlan[],
    pods: readonly Pod[],
    signal: AbortSignal,
  ): void {
    this.#released = rendered.plan.releaseId;
    for (const { pod } of plans) {
      this.#attempts.began(
        pods.find(({ name }) => name === pod)!,
        rendered.plan,
      );
    }
    const run = this.#run(
      Object.freeze({ rendered, plans: Object.freeze(plans), validated: true }),
      cause,
      signal,
    );
    this.#running.add(run);
    void run.finally(() => this.#running.delete(run));
  }

  async #run(deployment: Deployment, { changes, since }: Cause, signal: AbortSignal): Promise<void> {
    const { hooks, clock, log } = this.#parts;
    const { rendered, plans } = deployment;
    const start = clock.now();
    const ledger = new OutcomeLedger(plans, (outcome) => this.#ended(outcome, rendered, signal));
    try {
      await hooks.deploy.promise(deployment, ledger, { signal, caller: 'reconcile' });
    } catch (error) {
      if (!(error instanceof Cancelled))
        log.error({ err: error, planId: rendered.plan.id }, 'a deployment failed');
      ledger.fail(error instanceof Error ? error.message : String(error));
    }
    ledger.fail('no outcome was reported');
    const end = clock.now();
    if (signal.aborted) return;
    const facts = { durationMs: end - start, changes, sinceChangeMs: end - since };
    hooks.applied.call(rendered.plan, ledger.outcomes, Object.freeze(facts));
  }

  /** A pod is free for what has become new meanwhile, or will be tried again. */
  #ended(outcome: Outcome, { plan }: Rendered, signal: AbortSignal): void {
    const { log } = this.#parts;
    const { pod, result, stage, message, durationMs } = outcome;
    if (signal.aborted) return this.#attempts.settled(pod);
    this.#attempts.ended(outcome);
    const fields = { pod, result, stage, reason: message, durationMs, planId: plan.id };
    if (result === 'rejected' || result === 'unreachable') log.warn(fields, 'a pod did not take a plan');
    else log.info(fields, 'a pod took a plan');
    this.#parts.retryIn(0);
  }
}

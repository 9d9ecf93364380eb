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
  type RenderPlan,
} from '../contract/index.ts';
import type { Cause } from './changed-objects.ts';
import { EndpointPlans } from './endpoint-plans.ts';
import { OutcomeLedger } from './outcome-ledger.ts';
import { PodAttempts } from './pod-attempts.ts';

export interface DeployerParts {
  readonly hooks: Pick<Hooks, 'plan' | 'deploy' | 'applied'>;
  readonly fleet: Fleet;
  readonly clock: Clock;
  readonly log: Log;
  /** Asks for a `refresh` in so many milliseconds. */
  readonly retryIn: (ms: number) => void;
  /** A pod did not take a plan. */
  readonly onRejected: (rendered: Rendered, outcome: Outcome) => void;
}

export interface Wanted {
  readonly rendered: Rendered;
  readonly cause: Cause;
  /** Every judge passed it; false while the gate has not answered. */
  readonly validated: boolean;
}

/**
 * Brings pods to the newest render that may go out, and takes one back that turned out wrong. It never waits for a pod: one that hangs is left alone until it answers, while the
 * others go on getting what is new.
 */
export class Deployer {
  readonly #parts: DeployerParts;
  readonly #attempts: PodAttempts;
  readonly #endpoints: EndpointPlans;
  readonly #running = new Set<Promise<void>>();
  #wanted: Wanted | undefined;
  #signal: AbortSignal | undefined;
  #released: string | undefined;
  /** Plans that pods were told of to be validated, by pod. */
  readonly #confirmed = new Map<string, string>();
  /** Plans of which it was said that nothing was to be done for them, by pod. */
  readonly #settled = new Map<string, string>();
  /** Plans that are being taken back: who carries one on the judge's word alone waits for the end of that. */
  readonly #reverting = new Set<string>();
  /** Refused plans; whose own HAProxy loaded one keeps it until there is something newer. */
  readonly #refused = new Set<string>();

  constructor(parts: DeployerParts) {
    this.#parts = parts;
    this.#attempts = new PodAttempts(parts.clock);
    this.#endpoints = new EndpointPlans((next, pod) => this.#planned(next, pod));
  }

  /** From now on every pod is to run this. */
  update(wanted: Wanted, signal: AbortSignal): void {
    this.#refused.clear();
    this.#wanted = wanted;
    this.#signal = signal;
    this.refresh();
  }

  /** The judge that was still to answer has passed it: pods may take it for their last known good. */
  confirm(plan: RenderPlan): void {
    const wanted = this.#wanted;
    if (wanted === undefined || wanted.validated || wanted.rendered.plan.id !== plan.id) return;
    this.#wanted = { ...wanted, validated: true };
    this.refresh();
  }

  /** Takes a plan back from all pods that have it on the judge's word alone; nobody gets it any more. */
  async withdraw(plan: RenderPlan, accepted: Wanted | undefined, signal: AbortSignal): Promise<void> {
    const { fleet, log } = this.#parts;
    this.#refused.add(plan.id);
    this.#reverting.add(plan.id);
    if (this.#wanted?.rendered.plan.id === plan.id) this.#wanted = accepted;
    try {
      for (const { pod, result, message } of await fleet.revert(plan.id, signal)) {
        log.warn({ pod, result, reason: message, planId: plan.id }, 'took a plan back from a pod');
      }
    } catch (error) {
      if (!signal.aborted) log.error({ err: error, planId: plan.id }, 'taking a plan back failed');
    } finally {
      this.#reverting.delete(plan.id);
      if (!signal.aborted) this.#parts.retryIn(0);
    }
  }

  /** Plans that pods may run any moment, besides those that they report. */
  get underWay(): readonly string[] {
    return this.#attempts.planIds;
  }

  /** Looks at all pods again. */
  refresh(): void {
    if (this.#wanted === undefined || this.#signal?.aborted !== false) return;
    const { rendered } = this.#wanted;
    const pods = this.#parts.fleet.pods();
    this.#attempts.keepOnly(pods);
    this.#endpoints.remember(rendered);
    this.#endpoints.keepOnly(pods);
    const names = new Set(pods.map(({ name }) => name));
    for (const said of [this.#confirmed, this.#settled])
      for (const name of said.keys()) if (!names.has(name)) said.delete(name);
    const plans = pods
      .filter((pod) => !this.#isLeftAlone(pod) && this.#attempts.mayTry(pod, rendered.plan))
      .map((pod) => this.#plan(pod, rendered));
    for (const { pod, mode } of plans) if (mode === 'noop') this.#attempts.settled(pod);
    const news = this.#news(this.#wanted, plans);
    if (news.length > 0) this.#start(this.#wanted, news, pods, this.#signal);
    const next = this.#attempts.nextTry();
    if (next !== undefined) this.#parts.retryIn(next);
  }

  /** Resolves when no deployment runs any more. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  #plan(pod: Pod, next: Rendered): DeployPlan {
    return this.#endpoints.complete(this.#planned(next.plan, pod), pod, next);
  }

  #planned(next: RenderPlan, pod: Pod): DeployPlan {
    const plan = this.#parts.hooks.plan.call(Object.freeze({ next, pod }));
    if (plan === undefined) throw new Bug('nobody planned');
    return plan;
  }

  /** That a pod has it already is said once: each pod that comes to it would else repeat it of all that did. */
  #news({ rendered: { plan }, validated }: Wanted, plans: readonly DeployPlan[]): readonly DeployPlan[] {
    if (plan.releaseId !== this.#released) return plans;
    const isDue = (pod: string): boolean => validated && this.#confirmed.get(pod) !== plan.id;
    const news = plans.filter(
      ({ pod, mode }) => mode !== 'noop' || isDue(pod) || this.#settled.get(pod) !== plan.id,
    );
    const isNews = news.some(({ pod, mode }) => mode !== 'noop' || isDue(pod));
    return isNews ? news : [];
  }

  #isLeftAlone({ applied, loaded }: Pod): boolean {
    if (applied === undefined) return false;
    return loaded === applied ? this.#refused.has(applied) : this.#reverting.has(applied);
  }

  #start(
    { rendered, cause, validated }: Wanted,
    plans: readonly DeployPlan[],
    pods: readonly Pod[],
    signal: AbortSignal,
  ): void {
    const { releaseId } = rendered.plan;
    // Nothing becomes of it but that agents know: no news for anybody else.
    const isConfirmation = releaseId === this.#released && plans.every(({ mode }) => mode === 'noop');
    this.#released = releaseId;
    for (const { pod, mode } of plans) {
      if (validated) this.#confirmed.set(pod, rendered.plan.id);
      if (mode === 'noop') this.#settled.set(pod, rendered.plan.id);
      else this.#settled.delete(pod);
      this.#attempts.began(
        pods.find(({ name }) => name === pod)!,
        rendered.plan,
        mode,
      );
    }
    const run = this.#run(
      Object.freeze({ rendered, plans: Object.freeze(plans), validated }),
      { cause, isConfirmation },
      signal,
    );
    this.#running.add(run);
    void run.finally(() => this.#running.delete(run));
  }

  async #run(
    deployment: Deployment,
    {
      cause: { changes, since },
      isConfirmation,
    }: { readonly cause: Cause; readonly isConfirmation: boolean },
    signal: AbortSignal,
  ): Promise<void> {
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
    if (signal.aborted || isConfirmation) return;
    const facts = { durationMs: end - start, changes, sinceChangeMs: end - since };
    hooks.applied.call(rendered.plan, ledger.outcomes, Object.freeze(facts));
  }

  /** A pod is free for what has become new meanwhile, or will be tried again. */
  #ended(outcome: Outcome, rendered: Rendered, signal: AbortSignal): void {
    const { log } = this.#parts;
    const { pod, result, reasons, stage, message, durationMs } = outcome;
    if (signal.aborted) return this.#attempts.settled(pod);
    this.#attempts.ended(outcome);
    if (result === 'rejected' || result === 'unreachable' || result === 'held') this.#confirmed.delete(pod);
    const fields = { pod, result, stage, reason: message, durationMs, planId: rendered.plan.id };
    if (result === 'rejected' || result === 'unreachable') log.warn(fields, 'a pod did not take a plan');
    else if (result === 'held') log.info({ ...fields, reasons }, 'a pod waits for its turn');
    else if (result === 'reload' || result === 'scheduled')
      log.info({ ...fields, reasons }, 'a pod took a plan');
    else if (result !== 'noop') log.info(fields, 'a pod took a plan');
    if (result === 'rejected') this.#parts.onRejected(rendered, outcome);
    this.#parts.retryIn(0);
  }
}

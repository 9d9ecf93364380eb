import {
  Cancelled,
  Refused,
  type Clock,
  type Fleet,
  type FleetFacts,
  type HookContext,
  type Hooks,
  type JudgeBinary,
  type Log,
  type Rendered,
  type RenderInput,
  type Term,
  type Verdict,
} from '../contract/index.ts';
import type { Deferred, Evaluation, Pipeline } from '../pipeline/index.ts';
import { asError } from './as-error.ts';
import { backoff } from './backoff.ts';
import type { Cause } from './changed-objects.ts';
import { Dispatcher, type Authority, type Origin } from './dispatcher.ts';
import { fleetFacts, isOutdated } from './fleet-facts.ts';
import type { Promotion } from './promotion.ts';
import type { Accepted, Serving } from './serving.ts';
import { verdictError } from './verdict-error.ts';

export interface ReconcilerParts {
  readonly hooks: Hooks;
  readonly pipeline: Pipeline;
  readonly fleet: Fleet;
  readonly judge: JudgeBinary;
  readonly term: () => Term;
  readonly clock: Clock;
  readonly log: Log;
  readonly promotion: Promotion;
  /** Asks for a reconcile in so many milliseconds. */
  readonly reconcileIn: (ms: number) => void;
  /** Asks for another look at pending contents in so many milliseconds. */
  readonly promoteIn: (ms: number) => void;
  /** Asks for a look at the pods in so many milliseconds. */
  readonly lookIn: (ms: number) => void;
}

/** One render over the live store after the other: judged, sent out, or refused with what serves left as it is. */
export class Reconciler {
  readonly #parts: ReconcilerParts;
  readonly #dispatcher: Dispatcher;
  #problem: Error | undefined;
  #failures = 0;
  #undecided = 0;
  #fleet: FleetFacts | undefined;

  constructor(parts: ReconcilerParts) {
    this.#parts = parts;
    this.#dispatcher = new Dispatcher({
      ...parts,
      onRefused: (rendered, verdict) => this.#takenBack(rendered, verdict),
      onUnanswered: (reason) => {
        this.#problem = verdictError({ kind: 'interrupted', reason, findings: [] });
      },
      onPassed: () => {
        this.#problem = undefined;
      },
    });
  }

  get dispatcher(): Dispatcher {
    return this.#dispatcher;
  }

  /** Why the newest render is not the accepted one, where something is wrong. */
  get problem(): Error | undefined {
    return this.#problem;
  }

  /** Whether the fleet is another one than was rendered for. */
  get isOutdated(): boolean {
    return this.#fleet !== undefined && isOutdated(this.#fleet, this.#parts.fleet);
  }

  /** What a render is about besides the configuration and the objects. */
  async surroundings(): Promise<Omit<RenderInput, 'config' | 'view'>> {
    this.#fleet = await fleetFacts(this.#parts.fleet, this.#parts.judge);
    const { contents } = this.#parts.promotion;
    return { fleet: this.#fleet, contents, ...this.#dispatcher.releases.carried };
  }

  /** Sends out the render with which a configuration was accepted. */
  publish({ evaluation, input }: Accepted, cause: Cause, signal: AbortSignal): void {
    const authority = this.#authority(signal);
    if (authority !== undefined) this.#dispatcher.enter(authority);
    this.#passed(evaluation, { input, cause }, authority);
  }

  /** @throws Cancelled when the process stops. */
  async reconcile({ config, watching }: Serving, cause: Cause, signal: AbortSignal): Promise<void> {
    const authority = this.#authority(signal);
    const context: HookContext = { signal: authority?.signal ?? signal, caller: 'reconcile' };
    try {
      const input = { config, view: watching.view(), ...(await this.surroundings()) };
      if (authority === undefined) {
        const rendered = await this.#parts.pipeline.render(input, context);
        this.#parts.promotion.asks('serving', rendered);
      } else await this.#lead({ input, cause }, authority, context);
    } catch (error) {
      if (signal.aborted) throw error;
      // The term ended: whoever leads now knows nothing of this.
      if (error instanceof Cancelled) return;
      this.#failed(asError(error), cause);
    }
  }

  /** Has everybody judge contents that are new, and sends out the render with those that pass. @throws Cancelled when the process stops. */
  async promote({ config, watching }: Serving, cause: Cause, signal: AbortSignal): Promise<void> {
    const { pipeline, promotion, promoteIn, log } = this.#parts;
    const authority = this.#authority(signal);
    const context: HookContext = { signal: authority?.signal ?? signal, caller: 'promotion' };
    try {
      const input = { config, view: watching.view(), ...(await this.surroundings()) };
      const promoted = await promotion.promote((contents) =>
        pipeline.evaluate({ ...input, contents }, context),
      );
      if (promoted.kind === 'undecided') throw promoted.reason;
      this.#undecided = 0;
      if (promoted.kind === 'nothing') return;
      const { evaluation, contents } = promoted;
      if (authority !== undefined) this.#dispatcher.enter(authority);
      this.#passed(evaluation, { input: { ...input, contents }, cause }, authority);
    } catch (error) {
      if (signal.aborted) throw error;
      if (!(error instanceof Cancelled)) log.warn({ err: error }, 'new contents can not be judged now');
      promoteIn(backoff(++this.#undecided));
    }
  }

  async #lead(origin: Origin, authority: Authority, context: HookContext): Promise<void> {
    const { pipeline, log } = this.#parts;
    this.#dispatcher.enter(authority);
    const judgedFirst = this.#dispatcher.latched;
    if (judgedFirst !== undefined) {
      const evaluation = await pipeline.evaluate(origin.input, context);
      return this.#settle(evaluation, origin, authority, { judgedFirst });
    }
    const opening = await pipeline.evaluateDeferring(origin.input, context);
    if (opening.kind === 'settled') return this.#settle(opening.evaluation, origin, authority, {});
    const { deferred } = opening;
    const known = await this.#answerAtOnce(deferred, origin, context);
    if (known !== undefined) return this.#settle(known, origin, authority, {});
    const { candidate, durations } = deferred;
    const fields = { planId: candidate.rendered.plan.id, verdict: 'pending', ...durations };
    log.info({ changes: origin.cause.changes, ...fields }, 'reconciled');
    this.#failures = 0;
    this.#parts.promotion.asks('serving', candidate.rendered);
    this.#dispatcher.sendUnjudged(deferred, origin, authority);
  }

  /** Where HAProxy's verdict is known, where it latched while the others judged, or a content is used for the first time. */
  async #answerAtOnce(
    deferred: Deferred,
    { input }: Origin,
    context: HookContext,
  ): Promise<Evaluation | undefined> {
    const firstUse = this.#parts.promotion.isUnproven(deferred.candidate.rendered, input.contents);
    if (firstUse || this.#dispatcher.latched !== undefined)
      return await this.#parts.pipeline.settle(deferred, context);
    return await this.#dispatcher.recall(deferred, context);
  }

  #settle(
    evaluation: Evaluation,
    origin: Origin,
    authority: Authority,
    fields: { readonly judgedFirst?: string },
  ): void {
    const { hooks, log, reconcileIn } = this.#parts;
    const { verdict, rendered, durations } = evaluation;
    const { changes } = origin.cause;
    const planId = rendered.plan.id;
    log.info({ changes, planId, verdict: verdict.kind, ...fields, ...durations }, 'reconciled');
    if (verdict.kind === 'passed') return this.#passed(evaluation, origin, authority);
    this.#problem = verdictError(verdict);
    this.#parts.promotion.asksAsWell('serving', rendered);
    if (verdict.kind === 'interrupted') {
      log.warn({ err: this.#problem }, 'a render could not be judged, it is tried again');
      reconcileIn(backoff(++this.#failures));
      return;
    }
    log.error({ err: this.#problem, planId }, 'a render was refused, what serves stays');
    if (verdict.findings.some(({ phase, severity }) => phase === 'haproxy' && severity === 'error'))
      this.#dispatcher.latch();
    if (this.#dispatcher.releases.forgetProfiles()) reconcileIn(0);
    hooks.refused.call({ stage: 'validate', plan: rendered.plan, verdict });
  }

  /** Every judge passed it. */
  #passed(evaluation: Evaluation, origin: Origin, authority: Authority | undefined): void {
    this.#failures = 0;
    this.#problem = undefined;
    this.#parts.promotion.passed(evaluation.rendered, origin.input.contents);
    this.#dispatcher.sendJudged(evaluation, origin, authority);
  }

  /** What went out before HAProxy judged it was refused: the next render is judged first. */
  #takenBack({ plan }: Rendered, verdict: Verdict): void {
    if (verdict.kind === 'passed') return;
    const { log, reconcileIn } = this.#parts;
    this.#problem = verdictError(verdict);
    log.error(
      { err: this.#problem, planId: plan.id },
      'HAProxy refused a plan that is out, it is taken back',
    );
    this.#dispatcher.releases.forgetProfiles();
    reconcileIn(0);
  }

  #failed(error: Error, { changes }: Cause): void {
    const { hooks, log, reconcileIn } = this.#parts;
    this.#problem = error;
    this.#parts.promotion.asksAsWell('serving', error);
    log.error({ err: error, changes }, 'a render failed, what serves stays');
    hooks.refused.call({ stage: 'render', error });
    if (!(error instanceof Refused)) reconcileIn(backoff(++this.#failures));
  }

  /** Undefined for who does not lead. */
  #authority(signal: AbortSignal): Authority | undefined {
    const term = this.#parts.term();
    return term.leader ? { term, signal: AbortSignal.any([signal, term.signal]) } : undefined;
  }
}

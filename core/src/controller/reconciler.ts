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
  type RenderInput,
  type Term,
} from '../contract/index.ts';
import type { Deferred, Evaluation, Opening, Pipeline } from '../pipeline/index.ts';
import {
  evaluateAround,
  type Around,
  type Draft,
  type Failure,
  type Quarantine,
} from '../quarantine/index.ts';
import type { KeptProfiles } from '../state/index.ts';
import { asError } from './as-error.ts';
import { backoff } from './backoff.ts';
import type { Cause } from './changed-objects.ts';
import { Dispatcher, type Authority, type Origin } from './dispatcher.ts';
import { fleetFacts, isOutdated } from './fleet-facts.ts';
import { opening } from './opening.ts';
import type { Promotion } from './promotion.ts';
import { refusalError } from './refusal-error.ts';
import type { Accepted, Serving } from './serving.ts';
import { Trials } from './trials.ts';
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
  readonly quarantine: Quarantine;
  readonly profiles: KeptProfiles;
  /** Asks for a reconcile in so many milliseconds. */
  readonly reconcileIn: (ms: number) => void;
  /** Likewise, for the cause of the one that runs: nothing came of it. */
  readonly repeatIn: (ms: number) => void;
  /** Asks for another look at pending contents in so many milliseconds. */
  readonly promoteIn: (ms: number) => void;
  /** Asks for a trial of held objects in so many milliseconds. */
  readonly tryIn: (ms: number) => void;
  /** Asks for a look at the pods in so many milliseconds. */
  readonly lookIn: (ms: number) => void;
}

/** One render over the live store after the other: judged, sent out, or refused with what serves left as it is. */
export class Reconciler {
  readonly #parts: ReconcilerParts;
  readonly #dispatcher: Dispatcher;
  readonly #trials: Trials;
  #problem: Error | undefined;
  #failures = 0;
  #undecided = 0;
  /** What was rendered for last, whatever became of it. */
  #fleet: FleetFacts | undefined;
  /** Of something that went out: whose fault it is, the next render finds out. */
  #late: Failure | undefined;

  constructor(parts: ReconcilerParts) {
    const { quarantine } = parts;
    this.#parts = parts;
    this.#dispatcher = new Dispatcher({
      ...parts,
      onAccepted: (input) => quarantine.accept(input),
      onRefused: (failure) => this.#refusedLate(failure),
      onUnanswered: (reason) => {
        this.#problem = verdictError({ kind: 'interrupted', reason, findings: [] });
      },
      onPassed: () => {
        this.#problem = undefined;
      },
    });
    this.#trials = new Trials({
      ...parts,
      slot: () => this.#dispatcher.slot,
      onEvaluated: (evaluation) => this.#dispatcher.note(evaluation),
    });
  }

  get dispatcher(): Dispatcher {
    return this.#dispatcher;
  }

  /** Why the newest render is not the accepted one, where something is wrong. */
  get problem(): Error | undefined {
    return this.#problem;
  }

  /** Whether the fleet is another one than was rendered for last. */
  get isRenderOutdated(): boolean {
    return this.#isOutdated(this.#fleet);
  }

  /** Whether the fleet is another one than what goes out was rendered for. */
  get isReleaseOutdated(): boolean {
    return this.#isOutdated(this.#dispatcher.releases.dispatched?.input.fleet);
  }

  /** What a render is about besides the configuration and the objects. */
  async surroundings(): Promise<Omit<RenderInput, 'config' | 'view'>> {
    const fleet = await fleetFacts(this.#parts.fleet, this.#parts.judge);
    const { contents } = this.#parts.promotion;
    return { fleet, contents, ...this.#dispatcher.releases.carried };
  }

  /** What a reconcile is about now, held objects included. */
  async input({ config, watching }: Serving): Promise<RenderInput> {
    return { config, view: watching.view(), ...(await this.surroundings()) };
  }

  /** Sends out the render with which a configuration was accepted. */
  publish({ evaluation, input }: Accepted, cause: Cause, signal: AbortSignal): void {
    const authority = this.#authority(signal);
    this.#fleet = input.fleet;
    if (authority !== undefined) this.#dispatcher.enter(authority);
    this.#passed(evaluation, { input, cause }, authority);
  }

  /** @throws Cancelled when the process stops. */
  async reconcile(serving: Serving, cause: Cause, signal: AbortSignal): Promise<void> {
    const authority = this.#authority(signal);
    const context: HookContext = { signal: authority?.signal ?? signal, caller: 'reconcile' };
    try {
      const input = await this.input(serving);
      this.#fleet = input.fleet;
      if (authority === undefined) await this.#follow(input, context);
      else await this.#lead({ input, cause }, authority, context);
      this.#trials.plan(input);
    } catch (error) {
      if (signal.aborted) throw error;
      // The term ended: whoever leads now knows nothing of this.
      if (error instanceof Cancelled) return;
      this.#failed(asError(error), cause);
    }
  }

  /** Has everybody judge contents that are new, and sends out the render with those that pass. @throws Cancelled when the process stops. */
  async promote(serving: Serving, cause: Cause, signal: AbortSignal): Promise<void> {
    const { pipeline, promotion, promoteIn, quarantine, log } = this.#parts;
    const authority = this.#authority(signal);
    const context: HookContext = { signal: authority?.signal ?? signal, caller: 'promotion' };
    try {
      const live = await this.input(serving);
      this.#fleet = live.fleet;
      // Objects are not tried on this occasion: what fails here is to be a content's fault.
      const input = { ...live, view: quarantine.effective(live) };
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

  /** Tries held objects by themselves, beside everything else. */
  tryHeld(serving: Serving, signal: AbortSignal): void {
    const authority = this.#authority(signal);
    if (authority !== undefined) this.#trials.start(() => this.input(serving), authority.signal);
  }

  /** Resolves when nothing is under way any more. */
  async idle(): Promise<void> {
    await this.#trials.idle();
    await this.#dispatcher.idle();
  }

  /** Who does not lead renders to stay warm, and to know what contents are asked for. */
  async #follow(input: RenderInput, context: HookContext): Promise<void> {
    const { pipeline, promotion, quarantine } = this.#parts;
    const rendered = await pipeline.render({ ...input, view: quarantine.effective(input) }, context);
    promotion.asks('serving', rendered);
  }

  async #lead({ input, cause }: Origin, authority: Authority, context: HookContext): Promise<void> {
    const { quarantine, repeatIn } = this.#parts;
    const dispatcher = this.#dispatcher;
    // What a former term came to know too late is nobody's any more.
    if (dispatcher.enter(authority)) this.#late = undefined;
    const { around, draft } = await this.#evaluate(input, context);
    // A pod that answers meanwhile may be of another kind: what is no good for it would cost it a reload, or worse.
    if (this.#isOutdated(input.fleet)) return repeatIn(0);
    if (around.kind === 'refused') return this.#refused(around, cause);
    const { value, subject } = around;
    const origin = { input: subject, cause };
    if (value.kind === 'settled') return this.#settle(value.evaluation, { origin, draft, authority });
    // It latched in this very moment: what refused it has asked for another reconcile.
    if (dispatcher.latched !== undefined) return repeatIn(0);
    quarantine.keep(draft);
    this.#sendUnjudged(value.deferred, origin, authority);
  }

  /** Without the objects that are refused, here or of late; where nobody is to blame for that, as if it had not been. */
  async #evaluate(
    input: RenderInput,
    context: HookContext,
  ): Promise<{ readonly around: Around<Opening>; readonly draft: Draft }> {
    const { quarantine } = this.#parts;
    const attempt = opening({ ...this.#parts, dispatcher: this.#dispatcher }, context);
    const late = this.#late;
    this.#late = undefined;
    if (late !== undefined) {
      const draft = quarantine.draft(input);
      const around = await evaluateAround(draft, input, attempt, late);
      if (around.kind === 'evaluated' || around.failure !== late) return { around, draft };
    }
    const draft = quarantine.draft(input);
    return { around: await evaluateAround(draft, input, attempt), draft };
  }

  #sendUnjudged(deferred: Deferred, origin: Origin, authority: Authority): void {
    const { candidate, durations } = deferred;
    this.#log(origin.cause, { planId: candidate.rendered.plan.id, verdict: 'pending', ...durations });
    this.#failures = 0;
    this.#parts.promotion.asks('serving', candidate.rendered);
    this.#dispatcher.sendUnjudged(deferred, origin, authority);
  }

  /** Nobody refuses it. */
  #settle(
    evaluation: Evaluation,
    {
      origin,
      draft,
      authority,
    }: {
      readonly origin: Origin;
      readonly draft: Draft;
      readonly authority: Authority;
    },
  ): void {
    const { log, quarantine, repeatIn } = this.#parts;
    const { verdict, rendered, durations } = evaluation;
    this.#log(origin.cause, { planId: rendered.plan.id, verdict: verdict.kind, ...durations });
    if (verdict.kind === 'passed') {
      quarantine.keep(draft);
      return this.#passed(evaluation, origin, authority);
    }
    this.#problem = verdictError(verdict);
    this.#parts.promotion.asksAsWell('serving', rendered);
    log.warn({ err: this.#problem }, 'a render could not be judged, it is tried again');
    repeatIn(backoff(++this.#failures));
  }

  /** Every judge passed it. It goes to the fleet that it was rendered for, and else to nobody. */
  #passed(evaluation: Evaluation, origin: Origin, authority: Authority | undefined): void {
    const { promotion, reconcileIn } = this.#parts;
    this.#failures = 0;
    this.#problem = undefined;
    promotion.passed(evaluation.rendered, origin.input.contents);
    const isOutdated = this.#isOutdated(origin.input.fleet);
    this.#dispatcher.sendJudged(evaluation, origin, isOutdated ? undefined : authority);
    if (isOutdated) reconcileIn(0);
  }

  #isOutdated(fleet: FleetFacts | undefined): boolean {
    return fleet !== undefined && isOutdated(fleet, this.#parts.fleet);
  }

  /** It is no object's fault, so all of it is held. */
  #refused(around: Extract<Around<unknown>, { readonly kind: 'refused' }>, cause: Cause): void {
    const { failure } = around;
    const error = refusalError(around);
    const { hooks, log, promotion, repeatIn } = this.#parts;
    if (failure.kind === 'render') {
      promotion.asksAsWell('serving', failure.error);
      return this.#failed(error, cause);
    }
    const { plan } = failure.rendered;
    this.#problem = error;
    promotion.asksAsWell('serving', failure.rendered);
    log.error(
      { err: error, changes: cause.changes, planId: plan.id },
      'a render was refused, what serves stays',
    );
    if (this.#dispatcher.releases.forgetProfiles()) repeatIn(0);
    if (failure.kind === 'verdict') hooks.refused.call({ stage: 'validate', plan, verdict: failure.verdict });
  }

  /** Something that went out is refused: the next render is made without whoever is to blame. */
  #refusedLate(failure: Failure): void {
    const { log, reconcileIn } = this.#parts;
    this.#late = failure;
    if (failure.kind === 'verdict') {
      this.#problem = verdictError(failure.verdict);
      const { id: planId } = failure.rendered.plan;
      log.error(
        { err: this.#problem, planId, takenBack: true },
        'HAProxy refused a plan that is out, it is taken back',
      );
      this.#dispatcher.releases.forgetProfiles();
    }
    reconcileIn(0);
  }

  #failed(error: Error, { changes }: Cause): void {
    const { hooks, log, repeatIn } = this.#parts;
    this.#problem = error;
    this.#parts.promotion.asksAsWell('serving', error);
    log.error({ err: error, changes }, 'a render failed, what serves stays');
    hooks.refused.call({ stage: 'render', error });
    if (!(error instanceof Refused)) repeatIn(backoff(++this.#failures));
  }

  #log({ changes }: Cause, fields: object): void {
    this.#parts.log.info({ changes, ...fields }, 'reconciled');
  }

  /** Undefined for who does not lead. */
  #authority(signal: AbortSignal): Authority | undefined {
    const term = this.#parts.term();
    return term.leader ? { term, signal: AbortSignal.any([signal, term.signal]) } : undefined;
  }
}

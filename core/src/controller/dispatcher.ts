import type {
  Clock,
  Fleet,
  GateStatus,
  HookContext,
  Hooks,
  LatchReason,
  Log,
  Outcome,
  RenderInput,
  Rendered,
  Term,
  Verdict,
} from '../contract/index.ts';
import { RenderGate } from '../gate/index.ts';
import type { Deferred, Evaluation, Pipeline } from '../pipeline/index.ts';
import type { Failure } from '../quarantine/index.ts';
import type { KeptProfiles } from '../state/index.ts';
import { backoff } from './backoff.ts';
import type { Cause } from './changed-objects.ts';
import { Deployer } from './deployer.ts';
import { Releases, type Release } from './releases.ts';
import { describeFinding } from './verdict-error.ts';

export interface DispatcherParts {
  readonly hooks: Hooks;
  readonly pipeline: Pipeline;
  readonly profiles: KeptProfiles;
  readonly fleet: Fleet;
  readonly clock: Clock;
  readonly log: Log;
  /** Asks for a look at the pods in so many milliseconds. */
  readonly lookIn: (ms: number) => void;
  /** Every judge passed this. */
  readonly onAccepted: (input: RenderInput) => void;
  /** A plan that is out there was refused: by HAProxy's judge, then it is being taken back, or by a pod's own HAProxy. */
  readonly onRefused: (failure: Failure) => void;
  /** There is no verdict on the plan that went out last; it is asked for again. */
  readonly onUnanswered: (reason: string) => void;
  /** The last plan that went out has passed. */
  readonly onPassed: () => void;
}

/** Who may deploy, and until when. */
export interface Authority {
  readonly term: Term;
  /** Aborts when the term ends or the process stops. */
  readonly signal: AbortSignal;
}

/** What a passed or deferred render was about. */
export interface Origin {
  readonly input: RenderInput;
  readonly cause: Cause;
}

type Refusal = Extract<Verdict, { readonly kind: 'refused' }>;

interface Unjudged extends Release {
  readonly deferred: Deferred;
}

/** What goes out to the pods, what is released once all judges have passed it, and what is taken back. */
export class Dispatcher {
  readonly #parts: DispatcherParts;
  readonly #releases: Releases;
  readonly #gate: RenderGate<Unjudged>;
  readonly #deployer: Deployer;
  readonly #withdrawals = new Set<Promise<void>>();
  #authority: Authority | undefined;
  /** The last plan that a pod's own HAProxy did not load. */
  #rejectedPlan: string | undefined;

  constructor(parts: DispatcherParts) {
    const { profiles, fleet, lookIn } = parts;
    this.#parts = parts;
    this.#releases = new Releases(profiles);
    this.#deployer = new Deployer({
      ...parts,
      retryIn: lookIn,
      onRejected: (rendered, outcome) => this.#rejected(rendered, outcome),
    });
    this.#gate = new RenderGate({
      ...parts,
      backoff,
      pods: () => fleet.pods(),
      underWay: () => this.#deployer.underWay,
      onSettled: (release, evaluation, isNewest) => this.#settled(release, evaluation, isNewest),
      onUnanswered: ({ rendered }, reason, latched) => this.#unanswered(rendered, reason, latched),
    });
  }

  get releases(): Pick<Releases, 'accepted' | 'dispatched' | 'carried' | 'forgetProfiles'> {
    return this.#releases;
  }

  get gateStatus(): GateStatus {
    return this.#gate.status;
  }

  /** For everything that judges while nobody waits: see `RenderGate.slot`. */
  get slot(): RenderGate<Unjudged>['slot'] {
    return this.#gate.slot;
  }

  /** A term goes on, or another one begins: then it is true. */
  enter(authority: Authority): boolean {
    const { term, signal } = authority;
    const known = this.#authority;
    const goesOn = known?.term.epoch === term.epoch && known.term.signal === term.signal;
    if (!goesOn) this.#releases.settleForAccepted();
    this.#authority = authority;
    this.#gate.enter(term, signal);
    return !goesOn;
  }

  /** Why a render is to be judged before it goes out; undefined: it need not. */
  get latched(): LatchReason | undefined {
    return this.#gate.latched;
  }

  /** Nobody has judged yet what is out, and something of its kind was refused. */
  get isInDoubt(): boolean {
    return this.latched === 'refused' && this.#releases.dispatched !== this.#releases.accepted;
  }

  /** The complete answer where HAProxy has judged the same content before. */
  recall(deferred: Deferred, context: HookContext): Promise<Evaluation> | undefined {
    return this.#gate.recall(deferred, context);
  }

  /** Sends out what HAProxy is still to judge. */
  sendUnjudged(deferred: Deferred, { input, cause }: Origin, { signal }: Authority): void {
    const { rendered } = deferred.candidate;
    const release = { rendered, input, cause, deferred };
    this.#releases.dispatch(release);
    this.#deployer.update({ rendered, cause, validated: false }, signal);
    this.#gate.submit(release);
  }

  /** Sends out what every judge has passed, if there is somebody to send it. */
  sendJudged(evaluation: Evaluation, { input, cause }: Origin, authority: Authority | undefined): void {
    const { rendered, verdict } = evaluation;
    const release = { rendered, input, cause };
    this.#releases.dispatch(release);
    this.#accept(release, verdict);
    if (authority === undefined) return;
    this.#deployer.update({ rendered, cause, validated: true }, authority.signal);
    this.#gate.sentJudged(evaluation);
    this.#tellReleased(release, verdict, authority);
  }

  /** From now on renders are judged before they go out. */
  latch(): void {
    this.#gate.latch();
  }

  /** What HAProxy said to whoever waited for it: a content that it refused does not go out. */
  note(evaluation: Evaluation): void {
    this.#gate.note(evaluation);
  }

  /** Looks at all pods again. */
  look(): void {
    this.#deployer.refresh();
    this.#gate.look();
  }

  /** Resolves when nothing that pods were sent is under way any more. */
  async idle(): Promise<void> {
    await Promise.all(this.#withdrawals);
    await this.#deployer.idle();
  }

  #settled(release: Unjudged, evaluation: Evaluation, isNewest: boolean): void {
    const authority = this.#authority;
    if (authority === undefined || authority.signal.aborted) return;
    const { verdict } = evaluation;
    if (verdict.kind === 'refused') return this.#withdraw(release, verdict, authority);
    this.#parts.log.info(
      { planId: release.rendered.plan.id, ...evaluation.durations },
      'HAProxy accepted a plan',
    );
    this.#deployer.confirm(release.rendered.plan);
    if (this.#accept(release, verdict)) this.#tellReleased(release, verdict, authority);
    if (!isNewest) return;
    this.#gate.open();
    this.#parts.onPassed();
  }

  #withdraw(
    { rendered, input: { view }, cause: { changes } }: Unjudged,
    verdict: Refusal,
    { signal }: Authority,
  ): void {
    const { hooks, onRefused } = this.#parts;
    const { plan } = rendered;
    this.#releases.withdraw(plan.id);
    const { accepted } = this.#releases;
    const wanted = accepted && { rendered: accepted.rendered, cause: accepted.cause, validated: true };
    const withdrawal = this.#deployer.withdraw(plan, wanted, signal);
    this.#withdrawals.add(withdrawal);
    void withdrawal.finally(() => this.#withdrawals.delete(withdrawal));
    hooks.refused.call({ stage: 'validate', plan, verdict, takenBack: { changes } });
    onRefused({ kind: 'verdict', rendered, verdict, view });
  }

  /** A pod's own HAProxy did not load what the judge may have passed. Each plan is complained of once, whatever other pods say. */
  #rejected(rendered: Rendered, { stage, message = '' }: Outcome): void {
    const { input, rendered: current } = this.#releases.dispatched ?? {};
    const isNew = current?.plan.id === rendered.plan.id && this.#rejectedPlan !== rendered.plan.id;
    if (stage !== 'reload' || !isNew || input === undefined) return;
    this.#rejectedPlan = rendered.plan.id;
    this.#parts.onRefused({ kind: 'pod', rendered, message, view: input.view });
  }

  #unanswered({ plan }: Rendered, reason: string, latched: boolean): void {
    this.#parts.log.warn(
      { planId: plan.id, reason },
      'HAProxy gave no verdict on a plan that is out, it is asked again',
    );
    if (latched) this.#parts.onUnanswered(reason);
  }

  /** False for one that something newer has overtaken. */
  #accept(release: Release, { findings }: Verdict): boolean {
    const before = new Set(this.#releases.findings.map(({ message }) => message));
    if (!this.#releases.accept(release, findings)) return false;
    this.#parts.onAccepted(release.input);
    for (const finding of findings.filter(({ message }) => !before.has(message))) {
      this.#parts.log.warn({ finding: describeFinding(finding), path: finding.path }, 'a judge warns');
    }
    return true;
  }

  #tellReleased({ rendered, input: { config } }: Release, { findings }: Verdict, { term }: Authority): void {
    const facts = Object.freeze({ findings, config, epoch: term.epoch });
    this.#parts.hooks.released.call(rendered, facts);
  }
}

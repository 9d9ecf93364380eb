import {
  type Clock,
  type Deployment,
  type Log,
  type Outcome,
  withoutSecretWords,
  type OutcomeCollector,
} from '@haptic/core/contract';
import type { AgentSettings } from '../agent-settings.ts';
import { atMost } from '../at-most.ts';
import type { Order } from '../order.ts';
import type { PodSession } from '../pod-session.ts';
import type { Roster } from '../roster.ts';
import { kindsOf } from './novelty.ts';
import { TURN_MS } from './reload-lane.ts';
import { insanity, type Sample } from './sanity.ts';
import type { Trial, WaveOrder } from './wave-group.ts';
import { Waves, type Entry } from './waves.ts';

/** From winning the lease to losing it. */
export interface RolloutTerm {
  /** The same as long as it is the same term. */
  readonly id: object;
  readonly signal: AbortSignal;
}

export interface RolloutFacts {
  readonly roster: Pick<Roster, 'sessions' | 'byName' | 'known'>;
  readonly settings: () => Pick<AgentSettings, 'waves'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly term: () => RolloutTerm;
  /** The core may look at the pods again. */
  readonly changed: () => void;
}

type Going = Extract<Entry, { kind: 'go' }>;

/** How long a pod that is not well holds the others back before somebody looks again, milliseconds. */
const SICK_MS = 60_000;
/** How long all pods may take to answer for the first time before those that did not are left out, milliseconds. */
const FIRST_ANSWERS_MS = 2_000;
/** How often it is looked whether a reload that waits for its turn is done, milliseconds. */
const PENDING_MS = 100;

/** Brings deployments to the pods, in waves where there is something new. */
export class Rollout {
  readonly #facts: RolloutFacts;
  readonly #waves: Waves;
  #term: object | undefined;
  #isAcquainted = false;
  /** Pods from which an overdue plan is being taken. */
  readonly #reverting = new Set<PodSession>();

  constructor(facts: RolloutFacts) {
    const { roster, settings, clock } = facts;
    this.#facts = facts;
    this.#waves = new Waves({
      now: () => clock.now(),
      settings: () => settings().waves,
      members: () =>
        roster.sessions.flatMap(({ id, name, state, stops, version, runs }) =>
          state === undefined || stops ? [] : [{ id, name, version, runs }],
        ),
      released: () => this.#released(),
    });
  }

  /** The plan that a pod is not to be sent now. */
  heldPlan({ id, stops, spared }: PodSession): string | undefined {
    return stops ? spared : this.#waves.heldPlan(id);
  }

  /** A pod came, went or reports something else. */
  podsChanged(): void {
    this.#waves.recheck();
    this.#revertOverdue();
  }

  /** One outcome for every pod of the deployment. */
  async deploy(
    { plans, rendered, validated }: Deployment,
    outcomes: OutcomeCollector,
    signal: AbortSignal,
  ): Promise<void> {
    this.#enterTerm();
    const kinds = new Map(this.#facts.roster.sessions.map(({ id, kind }) => [id, kind]));
    await this.#firstAnswers(signal);
    const orders = plans.map((plan): Order => ({ plan, rendered, validated }));
    // Those that need no reload come first: by taking the plan they may prove it to the others.
    const isLoaded = ({ plan }: Order): boolean => plan.mode === 'reload';
    const sorted = [...orders.filter((order) => !isLoaded(order)), ...orders.filter(isLoaded)];
    await Promise.all(sorted.map(async (order) => outcomes.add(await this.#deploy(order, kinds, signal))));
  }

  /** See `Fleet.revert`. */
  async revert(plan: string, signal: AbortSignal): Promise<readonly Outcome[]> {
    // What stops loads nothing any more, and is soon gone with whatever it has.
    const sessions = this.#facts.roster.sessions.filter(({ stops }) => !stops);
    this.#enterTerm();
    this.#waves.withdraw(plan);
    for (const session of sessions) session.withdraw(plan);
    const answers = await Promise.all(sessions.map((session) => this.#revertPod(session, plan, signal)));
    return answers.filter((outcome) => outcome !== undefined);
  }

  #enterTerm(): void {
    const { id } = this.#facts.term();
    if (this.#term === id) return;
    this.#term = id;
    this.#waves.reset();
    for (const session of this.#facts.roster.sessions) session.forgetWithdrawn();
  }

  /** Who is there is only known when all have been asked: nobody shall lead alone because the others are slow. */
  async #firstAnswers(signal: AbortSignal): Promise<void> {
    if (this.#isAcquainted) return;
    const { roster, clock } = this.#facts;
    const asked = roster.known.then(() => Promise.all(roster.sessions.map((session) => session.asked)));
    await atMost(FIRST_ANSWERS_MS, asked, clock, signal);
    this.#isAcquainted = true;
  }

  /** @param kinds What was known of each pod when this was to be sent. */
  async #deploy(
    order: Order,
    kinds: ReadonlyMap<string, string | undefined>,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const { plan } = order;
    const { pod, mode, reasons } = plan;
    const session = this.#facts.roster.byName(pod);
    if (session === undefined) return unreachable(pod, reasons, new Error('the pod is gone'));
    if (mode === 'noop') {
      this.#waves.settled(session.id);
      if (order.validated) session.confirm(order.rendered, this.#facts.term().signal);
      return { pod, result: 'noop', reasons, durationMs: 0 };
    }
    try {
      // No waiting where it answers: what is decided for one pod counts for the next one.
      if (session.state === undefined) await session.reach(signal);
      if (kinds.get(session.id) !== session.kind) return held(pod, [...reasons, 'answered_meanwhile']);
      if (session.stops) return await this.#deployLast(session, order, signal);
      const entry = this.#waves.enter(waveOrder(order, session));
      if (entry.kind === 'go') return await this.#go(session, order, entry, signal);
      await this.#sendEndpoints(session, order, signal);
      return held(pod, [...reasons, entry.reason], entry.message);
    } catch (error) {
      return unreachable(pod, reasons, error);
    }
  }

  /** To a pod that stops: what needs no reload, and endpoints; a reload would start anew what is winding up. */
  async #deployLast(session: PodSession, order: Order, signal: AbortSignal): Promise<Outcome> {
    const { mode, reasons } = order.plan;
    if (mode !== 'reload') return await session.deploy(order, signal);
    session.spared = order.rendered.plan.id;
    await this.#sendEndpoints(session, order, signal);
    return held(session.name, [...reasons, 'pod_stops']);
  }

  async #go(session: PodSession, order: Order, entry: Going, signal: AbortSignal): Promise<Outcome> {
    let outcome: Outcome | undefined;
    let before: Sample | undefined;
    try {
      const {
        place,
        order: { loads },
      } = entry;
      if (loads || place.kind === 'lead') await session.answersNow(signal);
      before = place.kind === 'lead' ? await session.health(signal) : undefined;
      outcome = await session.deploy(order, signal);
      // Its HAProxy has what it had, and that had other endpoints.
      if (outcome.result === 'rejected') await this.#sendEndpoints(session, order, signal);
      return outcome;
    } finally {
      const ended = outcome ?? { result: 'unreachable' };
      if (ended.result === 'scheduled')
        this.#inBackground(() => this.#awaitReload(session, order, entry, before), session);
      else this.#ended(session, entry, ended, before);
    }
  }

  /** The changes of endpoints alone, on top of what the pod has. */
  async #sendEndpoints(session: PodSession, { plan }: Order, signal: AbortSignal): Promise<void> {
    const meanwhile = plan.meanwhile?.();
    if (meanwhile === undefined || session.state?.applied !== meanwhile.plan.from) return;
    const { result, message } = await session.deploy({ ...meanwhile, validated: false }, signal);
    const fields = { pod: session.name, result, reason: message };
    this.#facts.log.info(fields, 'a pod that waits for a plan got its endpoints');
  }

  #ended(
    session: PodSession,
    entry: Going,
    outcome: Pick<Outcome, 'result' | 'stage' | 'message'>,
    before: Sample | undefined,
  ): void {
    const trial = this.#waves.ended(entry, outcome);
    if (trial !== undefined)
      this.#inBackground(() => this.#watch(session, entry.order, trial, before), session);
  }

  /** The agent loads it when it may: only then is it known what became of it. */
  async #awaitReload(
    session: PodSession,
    { rendered }: Order,
    entry: Going,
    before: Sample | undefined,
  ): Promise<void> {
    const { clock } = this.#facts;
    const signal = this.#whileThere(session);
    while (session.state != null && session.state.pendingReload !== null && !signal.aborted)
      await clock.sleep(PENDING_MS, signal).catch(() => {});
    const last = session.state?.lastApply;
    const { outcome = 'rejected', stage, message } = last ?? {};
    this.#ended(
      session,
      entry,
      {
        result: last == null || session.left.aborted ? 'unreachable' : outcome,
        ...(stage !== undefined && { stage }),
        ...(message !== undefined && { message: withoutSecretWords(message, rendered) }),
      },
      before,
    );
  }

  /** Whether the pod that leads stays sane for a while. */
  async #watch(
    session: PodSession,
    { version }: WaveOrder,
    trial: Trial,
    before: Sample | undefined,
  ): Promise<void> {
    const { clock, log, settings } = this.#facts;
    const signal = this.#whileThere(session);
    try {
      const words = await this.#lookTwice(session, this.#waves.soakOf(trial), before);
      if (words === 'unknown') return this.#waves.abandon(version, trial);
      if (this.#waves.watched(version, trial, words) && words !== undefined)
        log.error({ pod: session.name, planId: trial.planId, reason: words }, 'a wave was halted');
    } catch (error) {
      this.#waves.abandon(version, trial);
      throw error;
    }
    // Somebody else may have made it ill, and it may get well by itself.
    while (this.#waves.isSick(version, trial.pod) && !signal.aborted) {
      await clock.sleep(SICK_MS, signal);
      const words = await this.#lookTwice(session, settings().waves.soak, before);
      if (words === undefined) this.#waves.recovered(version, trial.pod);
    }
  }

  async #lookTwice(session: PodSession, ms: number, before: Sample | undefined): Promise<string | undefined> {
    const { clock } = this.#facts;
    const signal = this.#whileThere(session);
    const after = await session.health(signal);
    await clock.sleep(ms, signal);
    const later = await session.health(signal);
    return after === undefined || later === undefined ? 'unknown' : insanity(before, after, later);
  }

  async #revertPod(session: PodSession, plan: string, signal: AbortSignal): Promise<Outcome | undefined> {
    const { id, name } = session;
    const { lane } = this.#waves;
    try {
      if (!(await session.carries(plan, signal))) return undefined;
      await lane.take(id, AbortSignal.any([signal, session.left]));
      try {
        await session.answersNow(signal);
        return await session.revert(plan, signal);
      } finally {
        lane.free(id);
        this.#waves.recheck();
      }
    } catch (error) {
      signal.throwIfAborted();
      return unreachable(name, ['revert_lkg'], error);
    }
  }

  /** Pods that did not answer when a plan was taken back, and have it still. */
  #revertOverdue(): void {
    const { roster, log, term } = this.#facts;
    const { id, signal } = term();
    if (id !== this.#term || signal.aborted) return;
    for (const session of roster.sessions) {
      const { name, overdue, stops } = session;
      if (overdue === undefined || stops || this.#reverting.has(session)) continue;
      this.#reverting.add(session);
      this.#inBackground(async () => {
        try {
          const outcome = await this.#revertPod(session, overdue, signal);
          if (outcome === undefined) return;
          const { result, message } = outcome;
          log.warn({ pod: name, planId: overdue, result, reason: message }, 'took a plan back from a pod');
        } finally {
          this.#reverting.delete(session);
        }
      }, session);
    }
  }

  /** The core plans for released pods anew. One that does not come for its turn loses it. */
  #released(): void {
    const { changed, clock, term } = this.#facts;
    changed();
    this.#inBackground(async () => {
      await clock.sleep(TURN_MS, term().signal);
      this.#waves.recheck();
    });
  }

  /** Aborts when the term ends, or the pod has left. */
  #whileThere({ left }: PodSession): AbortSignal {
    return AbortSignal.any([this.#facts.term().signal, left]);
  }

  #inBackground(work: () => Promise<void>, session?: PodSession): void {
    const { log, term } = this.#facts;
    const signal = session === undefined ? term().signal : this.#whileThere(session);
    work().catch((error: unknown) => {
      if (!signal.aborted) log.error({ err: error }, 'lost track of a wave');
    });
  }
}

function waveOrder({ plan, rendered }: Order, session: PodSession): WaveOrder {
  const { baseline } = session.pod();
  return {
    pod: session.id,
    version: session.version,
    planId: rendered.plan.id,
    loads: plan.mode === 'reload',
    kinds: kindsOf(plan.ops, { next: rendered.plan, before: baseline }),
  };
}

/** Nothing is known of the pod, whatever happened. */
function unreachable(pod: string, reasons: readonly string[], error: unknown): Outcome {
  const message = error instanceof Error ? error.message : String(error);
  return { pod, result: 'unreachable', reasons, message, durationMs: 0 };
}

function held(pod: string, reasons: readonly string[], message?: string): Outcome {
  return { pod, result: 'held', reasons, ...(message !== undefined && { message }), durationMs: 0 };
}

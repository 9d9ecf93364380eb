import {
  Bug,
  type Clock,
  type Deployment,
  type Log,
  type Outcome,
  type OutcomeCollector,
} from '@haptic/core/contract';
import type { Order } from '../order.ts';
import type { PodSession } from '../pod-session.ts';
import { kindsOf } from './novelty.ts';
import { TURN_MS } from './reload-lane.ts';
import { insanity, type Sample } from './sanity.ts';
import type { Trial, WaveOrder } from './wave-group.ts';
import { Waves, type Entry } from './waves.ts';

/** From winning the lease to losing it. */
export interface RolloutTerm {
  readonly epoch: number;
  readonly signal: AbortSignal;
}

export interface RolloutFacts {
  readonly sessions: readonly PodSession[];
  readonly soak: number;
  readonly size: number;
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
  readonly #byName: ReadonlyMap<string, PodSession>;
  #epoch: number | undefined;
  #isAcquainted = false;
  /** Pods from which an overdue plan is being taken. */
  readonly #reverting = new Set<string>();

  constructor(facts: RolloutFacts) {
    const { sessions, size, soak, clock } = facts;
    this.#facts = facts;
    this.#byName = new Map(sessions.map((session) => [session.name, session]));
    this.#waves = new Waves({
      now: () => clock.now(),
      size,
      soak,
      members: () =>
        sessions.flatMap(({ name, state, version, runs }) =>
          state === undefined ? [] : [{ name, version, runs }],
        ),
      released: () => this.#released(),
    });
  }

  heldPlan(pod: string): string | undefined {
    return this.#waves.heldPlan(pod);
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
    await this.#firstAnswers(signal);
    const orders = plans.map((plan): Order => ({ plan, rendered, validated }));
    // Those that need no reload come first: by taking the plan they may prove it to the others.
    const isLoaded = ({ plan }: Order): boolean => plan.mode === 'reload';
    const sorted = [...orders.filter((order) => !isLoaded(order)), ...orders.filter(isLoaded)];
    await Promise.all(sorted.map(async (order) => outcomes.add(await this.#deploy(order, signal))));
  }

  /** See `Fleet.revert`. */
  async revert(plan: string, signal: AbortSignal): Promise<readonly Outcome[]> {
    const { sessions } = this.#facts;
    this.#enterTerm();
    this.#waves.withdraw(plan);
    for (const session of sessions) session.withdraw(plan);
    const answers = await Promise.all(sessions.map((session) => this.#revertPod(session, plan, signal)));
    return answers.filter((outcome) => outcome !== undefined);
  }

  #enterTerm(): void {
    const { epoch } = this.#facts.term();
    if (this.#epoch === epoch) return;
    this.#epoch = epoch;
    this.#waves.reset();
    for (const session of this.#facts.sessions) session.forgetWithdrawn();
  }

  /** Who is there is only known when all have been asked: nobody shall lead alone because the others are slow. */
  async #firstAnswers(signal: AbortSignal): Promise<void> {
    if (this.#isAcquainted) return;
    const { sessions, clock } = this.#facts;
    const done = new AbortController();
    const late = clock.sleep(FIRST_ANSWERS_MS, AbortSignal.any([signal, done.signal])).catch(() => {});
    await Promise.race([Promise.all(sessions.map(({ asked }) => asked)), late]);
    done.abort();
    this.#isAcquainted = true;
  }

  async #deploy(order: Order, signal: AbortSignal): Promise<Outcome> {
    const { plan } = order;
    const { pod, mode, reasons } = plan;
    const session = this.#byName.get(pod);
    if (session === undefined) throw new Bug(`a plan for the unknown pod ${pod}`);
    if (mode === 'noop') {
      this.#waves.settled(pod);
      if (order.validated) session.confirm(order.rendered, this.#facts.term().signal);
      return { pod, result: 'noop', reasons, durationMs: 0 };
    }
    try {
      // No waiting where it answers: what is decided for one pod counts for the next one.
      if (session.state === undefined) await session.reach(signal);
      const entry = this.#waves.enter(waveOrder(order, session));
      if (entry.kind === 'go') return await this.#go(session, order, entry, signal);
      await this.#sendEndpoints(session, order, signal);
      const { reason, message } = entry;
      const words = [...reasons, reason];
      return {
        pod,
        result: 'held',
        reasons: words,
        ...(message !== undefined && { message }),
        durationMs: 0,
      };
    } catch (error) {
      return unreachable(pod, reasons, error);
    }
  }

  async #go(session: PodSession, order: Order, entry: Going, signal: AbortSignal): Promise<Outcome> {
    let outcome: Outcome | undefined;
    let before: Sample | undefined;
    try {
      before = entry.place.kind === 'lead' ? await session.health(signal) : undefined;
      outcome = await session.deploy(order, signal);
      // Its HAProxy has what it had, and that had other endpoints.
      if (outcome.result === 'rejected') await this.#sendEndpoints(session, order, signal);
      return outcome;
    } finally {
      const ended = outcome ?? { result: 'unreachable' };
      if (ended.result === 'scheduled') this.#inBackground(() => this.#awaitReload(session, entry, before));
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
    if (trial !== undefined) this.#inBackground(() => this.#watch(session, entry.order, trial, before));
  }

  /** The agent loads it when it may: only then is it known what became of it. */
  async #awaitReload(session: PodSession, entry: Going, before: Sample | undefined): Promise<void> {
    const { clock, term } = this.#facts;
    const { signal } = term();
    while (session.state != null && session.state.pendingReload !== null && !signal.aborted)
      await clock.sleep(PENDING_MS, signal).catch(() => {});
    const last = session.state?.lastApply;
    const { outcome = 'rejected', stage, message } = last ?? {};
    this.#ended(
      session,
      entry,
      {
        result: last == null ? 'unreachable' : outcome,
        ...(stage !== undefined && { stage }),
        ...(message !== undefined && { message }),
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
    const { clock, log, term } = this.#facts;
    const { signal } = term();
    try {
      const words = await this.#lookTwice(session, this.#waves.soakOf(trial), before);
      if (words === 'unknown') return this.#waves.abandon(version, trial);
      if (this.#waves.watched(version, trial, words) && words !== undefined)
        log.error({ pod: trial.pod, planId: trial.planId, reason: words }, 'a wave was halted');
    } catch (error) {
      this.#waves.abandon(version, trial);
      throw error;
    }
    // Somebody else may have made it ill, and it may get well by itself.
    while (this.#waves.isSick(version, trial.pod) && !signal.aborted) {
      await clock.sleep(SICK_MS, signal);
      const words = await this.#lookTwice(session, this.#facts.soak, before);
      if (words === undefined) this.#waves.recovered(version, trial.pod);
    }
  }

  async #lookTwice(session: PodSession, ms: number, before: Sample | undefined): Promise<string | undefined> {
    const { clock, term } = this.#facts;
    const { signal } = term();
    const after = await session.health(signal);
    await clock.sleep(ms, signal);
    const later = await session.health(signal);
    return after === undefined || later === undefined ? 'unknown' : insanity(before, after, later);
  }

  async #revertPod(session: PodSession, plan: string, signal: AbortSignal): Promise<Outcome | undefined> {
    const { name } = session;
    const { lane } = this.#waves;
    try {
      if (!(await session.carries(plan, signal))) return undefined;
      await lane.take(name, signal);
      try {
        return await session.revert(plan, signal);
      } finally {
        lane.free(name);
        this.#waves.recheck();
      }
    } catch (error) {
      signal.throwIfAborted();
      return unreachable(name, ['revert_lkg'], error);
    }
  }

  /** Pods that did not answer when a plan was taken back, and have it still. */
  #revertOverdue(): void {
    const { sessions, log, term } = this.#facts;
    const { epoch, signal } = term();
    if (epoch !== this.#epoch || signal.aborted) return;
    for (const session of sessions) {
      const { name, overdue } = session;
      if (overdue === undefined || this.#reverting.has(name)) continue;
      this.#reverting.add(name);
      this.#inBackground(async () => {
        try {
          const outcome = await this.#revertPod(session, overdue, signal);
          if (outcome === undefined) return;
          const { result, message } = outcome;
          log.warn({ pod: name, planId: overdue, result, reason: message }, 'took a plan back from a pod');
        } finally {
          this.#reverting.delete(name);
        }
      });
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

  #inBackground(work: () => Promise<void>): void {
    const { log, term } = this.#facts;
    const { signal } = term();
    work().catch((error: unknown) => {
      if (!signal.aborted) log.error({ err: error }, 'lost track of a wave');
    });
  }
}

function waveOrder({ plan, rendered }: Order, session: PodSession): WaveOrder {
  const { baseline } = session.pod();
  return {
    pod: session.name,
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

import type { Clock, DeployPlan, Log, Outcome, Pod, Rendered, RenderPlan } from '@haptic/core/contract';
import type { AgentState, ApplyAnswer, Conflict } from '@haptic/agent/protocol';
import { AgentClient, AgentUnreachable, type AgentEndpoint, type StateRequest } from './agent-client.ts';
import { ApplyAttempt } from './apply-attempt.ts';
import { applyMessage, revertMessage } from './apply-message.ts';
import type { Epoch } from './epoch.ts';
import { KnownBad } from './known-bad.ts';
import type { PlanChunks } from './plan-chunks.ts';
import { readStoredPlan } from './plan-schema.ts';

export interface SessionFacts {
  readonly endpoint: AgentEndpoint;
  readonly epoch: Epoch;
  readonly applyTimeout: number;
  readonly poll: number;
  readonly log: Log;
  readonly clock: Clock;
  readonly chunks: PlanChunks;
  /** How often the agent is asked to read its files anew, milliseconds. */
  readonly driftInterval: number;
  /** Something about the pod changed that this process did not do. */
  readonly changed: () => void;
}

export interface Order {
  readonly plan: DeployPlan;
  readonly rendered: Rendered;
  readonly validated: boolean;
}

const MAX_ATTEMPTS = 5;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;
/** Plans of this process that a pod may still report; the newest is the usual case. */
const REMEMBERED_PLANS = 4;

/** One HAProxy pod: what its agent reports, and the applies that go to it. */
export class PodSession {
  readonly #facts: SessionFacts;
  readonly #client: AgentClient;
  readonly #plans = new Map<string, RenderPlan>();
  #state: AgentState | undefined;
  /** What stood in the file of the worker's last load, where this process has seen it. */
  #loaded: { readonly planId: string; readonly profiles: ReadonlySet<string> } | undefined;
  #seq = 0;
  /** The epoch of the last token made for the pod. */
  #seqEpoch = 0;
  /** The epoch in which the pod last took something from this process. */
  #acceptedIn = 0;
  #seen = '';
  readonly #knownBad: KnownBad;
  /** A plan whose reload was put off by the agent. */
  #scheduled: string | undefined;
  /** What the pod took last. */
  #accepted: Rendered | undefined;
  /** Digests of the parts of plans that it keeps. */
  #keptChunks: ReadonlySet<string> = new Set();
  #nextCheck: number;
  /** The pod's files are not those that were applied. */
  #drifted = false;
  readonly #answered = Promise.withResolvers<void>();

  constructor(facts: SessionFacts) {
    this.#facts = facts;
    this.#client = new AgentClient(facts.endpoint, facts.applyTimeout);
    this.#knownBad = new KnownBad(facts.clock);
    this.#nextCheck = facts.clock.now() + facts.driftInterval;
  }

  get name(): string {
    return this.#facts.endpoint.name;
  }

  /** Resolves with the first state that the agent reports. */
  get answered(): Promise<void> {
    return this.#answered.promise;
  }

  get state(): AgentState | undefined {
    return this.#state;
  }

  pod(): Pod {
    const state = this.#state;
    const baseline = this.#baseline();
    return {
      name: this.name,
      ops: state?.ops ?? [],
      ...(state?.haproxyVersion != null && { haproxyVersion: state.haproxyVersion }),
      ...(baseline !== undefined && { baseline }),
      ...(state?.applied != null && { applied: state.applied }),
      ...(state?.running != null && { loaded: state.running }),
      ...(this.#loaded !== undefined &&
        this.#loaded.planId === state?.running && { loadedProfiles: this.#loaded.profiles }),
    };
  }

  /** Follows the agent's state until the signal aborts. */
  async follow(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#facts;
    let pause = FIRST_PAUSE_MS;
    while (!signal.aborted) {
      try {
        const next = await this.#client.state(this.#question(), signal);
        // An answer that an apply has overtaken; or the agent began anew. Asking once more tells.
        const stale = next.generation < (this.#state?.generation ?? 0);
        this.#learn(stale ? await this.#client.state({ plan: false }, signal) : next);
        await this.#learnPlan(signal);
        pause = FIRST_PAUSE_MS;
        this.#answered.resolve();
        this.#report();
        // An agent that answers long polls at once must not keep us busy.
        await clock.sleep(10, signal);
      } catch (error) {
        if (signal.aborted) return;
        if (!(error instanceof AgentUnreachable)) throw error;
        if (this.#state !== undefined) log.warn({ pod: this.name, err: error }, 'the agent does not answer');
        this.#state = undefined;
        this.#report();
        await clock.sleep(pause, signal).catch(() => {});
        pause = Math.min(LONGEST_PAUSE_MS, pause * 2);
      }
    }
  }

  /** Held by the agent until there is news or the files are to be checked. */
  #question(): StateRequest {
    const { clock, poll, driftInterval } = this.#facts;
    const untilCheck = this.#nextCheck - clock.now();
    const state = this.#state;
    if (untilCheck <= 0) {
      this.#nextCheck = clock.now() + driftInterval;
      return { plan: false, verify: true };
    }
    if (state === undefined) return { plan: false };
    const { generation, worker } = state;
    const waitMs = Math.ceil(Math.min(poll, untilCheck));
    return { plan: false, after: { generation, worker: worker?.pid ?? 0, waitMs } };
  }

  async deploy(order: Order, signal: AbortSignal): Promise<Outcome> {
    const startedAt = this.#facts.clock.now();
    const bounded = AbortSignal.any([signal, AbortSignal.timeout(this.#facts.applyTimeout + 5_000)]);
    const outcome = await this.#attempts(order, bounded);
    this.#report();
    return { pod: this.name, durationMs: this.#facts.clock.now() - startedAt, ...outcome };
  }

  /** Back to the last known good, if the pod carries this plan without its HAProxy having loaded it; undefined: it does not. */
  async revert(plan: string, signal: AbortSignal): Promise<Outcome | undefined> {
    const { clock, applyTimeout } = this.#facts;
    const startedAt = clock.now();
    const bounded = AbortSignal.any([signal, AbortSignal.timeout(applyTimeout + 5_000)]);
    const facts = { pod: this.name, reasons: ['revert_lkg'] };
    try {
      this.#learn(await this.#client.state({ plan: false }, bounded));
      const state = this.#state;
      if (state?.applied !== plan || state.running === plan) return undefined;
      this.#seq += 1;
      const token = { epoch: this.#facts.epoch.value, seq: this.#seq };
      const reply = await this.#client.apply(JSON.stringify(revertMessage(plan, token)), bounded);
      this.#learn(await this.#client.state({ plan: false }, bounded));
      this.#report();
      const durationMs = clock.now() - startedAt;
      if (reply.kind === 'broken')
        return { ...facts, result: 'rejected', stage: 'limits', message: reply.message, durationMs };
      if (reply.kind === 'conflict') return { ...facts, result: 'noop', durationMs };
      const { outcome, stage, message } = reply.answer;
      return {
        ...facts,
        result: outcome,
        ...(stage !== undefined && { stage }),
        ...(message !== undefined && { message }),
        durationMs,
      };
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof AgentUnreachable) && !bounded.aborted) throw error;
      const message = error instanceof Error ? error.message : String(error);
      return { ...facts, result: 'unreachable', message, durationMs: clock.now() - startedAt };
    }
  }

  async close(): Promise<void> {
    await this.#client.close();
  }

  async #attempts(order: Order, signal: AbortSignal): Promise<Omit<Outcome, 'pod' | 'durationMs'>> {
    const { reasons } = order.plan;
    if (order.plan.mode === 'noop' && !this.#mustSay(order)) return { result: 'noop', reasons };
    const known = this.#knownBad.outcome(order.rendered.plan.id);
    if (known !== undefined) return { ...known, reasons };
    const attempt = new ApplyAttempt(order);
    let message = 'the agent did not answer';
    let pause = FIRST_PAUSE_MS;
    for (let count = 0; count < MAX_ATTEMPTS; count += 1) {
      try {
        this.#state ??= await this.#client.state({ plan: false }, signal);
        const reply = await this.#client.apply(this.#message(attempt, this.#state), signal);
        if (reply.kind === 'broken')
          return { result: 'rejected', reasons, stage: 'limits', message: reply.message };
        if (reply.kind === 'answer') return await this.#accept(reply.answer, order, signal);
        const refusal = await this.#settle(reply.conflict, attempt, signal);
        if (refusal !== undefined) return { result: 'rejected', reasons, stage: 'fence', message: refusal };
        message = `conflict: ${reply.conflict.reason}`;
      } catch (error) {
        if (signal.aborted) return { result: 'unreachable', reasons, message: `out of time: ${message}` };
        if (!(error instanceof AgentUnreachable)) throw error;
        // Unknown: the same request again, with the same token, gets the answer of the first if there was one.
        message = error.message;
        await this.#facts.clock.sleep(pause, signal).catch(() => {});
        pause *= 2;
      }
    }
    this.#state = undefined;
    return { result: 'unreachable', reasons, message };
  }

  /** Nothing to write, but that all judges passed is news to the agent. */
  #mustSay({ validated, rendered }: Order): boolean {
    return validated && this.#state?.applied === rendered.plan.id && this.#state.lkg !== rendered.plan.id;
  }

  #message(attempt: ApplyAttempt, state: AgentState): string {
    const { order } = attempt;
    const { epoch } = this.#facts;
    if (attempt.token === undefined) {
      const seen = state.token?.epoch ?? 0;
      if (this.#acceptedIn === 0 && seen >= epoch.value) epoch.outbid(seen);
      if (this.#seqEpoch !== epoch.value) this.#seq = 0;
      this.#seqEpoch = epoch.value;
      this.#seq += 1;
      attempt.token = { epoch: epoch.value, seq: this.#seq };
      attempt.expect = state.applied;
      // Planned for another one than it has by now.
      attempt.full ||= order.plan.mode !== 'reload' && order.plan.from !== state.applied;
    }
    const held = new Set(Object.values(state.files));
    const before = this.#accepted;
    const hasBefore = !attempt.sendAll && before !== undefined && state.applied === before.plan.id;
    const loads = attempt.full || order.plan.mode === 'reload';
    return JSON.stringify(
      applyMessage({
        rendered: order.rendered,
        token: attempt.token,
        expect: attempt.expect,
        mode: loads ? 'reload' : 'auto',
        changes: attempt.full ? undefined : order.plan,
        validated: order.validated,
        chunks: this.#facts.chunks.of(order.rendered.plan),
        lacksChunk: (digest) =>
          attempt.sendAll || attempt.missing.has(digest) || !this.#keptChunks.has(digest),
        before: hasBefore && attempt.missing.size === 0 && !this.#drifted ? before : undefined,
        lacks: ({ path, digest }) => attempt.sendAll || attempt.missing.has(path) || !held.has(digest),
      }),
    );
  }

  /** Prepares the next attempt after a 409; or says why there shall be none. */
  async #settle(conflict: Conflict, attempt: ApplyAttempt, signal: AbortSignal): Promise<string | undefined> {
    const { epoch } = this.#facts;
    if (conflict.reason === 'missing') {
      for (const name of [...(conflict.paths ?? []), ...(conflict.chunks ?? [])]) attempt.missing.add(name);
      // Not written yet, so the same token may be used again.
      return undefined;
    }
    if (conflict.reason === 'stale_epoch') {
      const seen = conflict.token?.epoch ?? 0;
      const takenOver = this.#acceptedIn > 0 && seen > this.#acceptedIn;
      if (takenOver || attempt.outbid || !epoch.outbid(seen))
        return 'another controller writes to this agent';
      attempt.outbid = true;
    }
    // Other files are in place than this plan was made for: everything again, and loaded.
    attempt.full = true;
    attempt.sendAll = conflict.reason === 'unknown_baseline';
    attempt.token = undefined;
    this.#learn(await this.#client.state({ plan: false }, signal));
    return undefined;
  }

  async #accept(
    answer: ApplyAnswer,
    { plan, rendered }: Order,
    signal: AbortSignal,
  ): Promise<Omit<Outcome, 'pod' | 'durationMs'>> {
    this.#remember(rendered.plan);
    this.#noteTaken(answer, rendered);
    this.#acceptedIn = this.#seqEpoch;
    if (answer.outcome === 'rejected' && answer.stage === 'reload') {
      this.#knownBad.note(rendered.plan.id, answer.message ?? '');
    }
    this.#scheduled = answer.outcome === 'scheduled' ? rendered.plan.id : undefined;
    this.#learn(await this.#client.state({ plan: false }, signal));
    this.#seen = this.#signature();
    const words = [
      ...plan.reasons,
      ...(answer.fellBack ? ['fell_back'] : []),
      ...answer.skew.map((name) => `skew:${name}`),
    ];
    return {
      result: answer.outcome,
      reasons: words,
      ...(answer.stage !== undefined && { stage: answer.stage }),
      ...(answer.message !== undefined && { message: answer.message }),
    };
  }

  /** What the agent has from now on, to send only what is new the next time. */
  #noteTaken({ outcome, planId }: ApplyAnswer, rendered: Rendered): void {
    if (outcome === 'rejected' || planId !== rendered.plan.id) return;
    this.#accepted = rendered;
    this.#keptChunks = new Set(this.#facts.chunks.of(rendered.plan).map(({ digest }) => digest));
    this.#drifted = false;
  }

  #learn(state: AgentState): void {
    this.#state = state;
    if (state.drift !== undefined) this.#drifted = state.drift.length > 0;
    this.#learnLoaded(state.running);
    if (this.#scheduled === undefined || state.pendingReload !== null) return;
    if (state.applied !== this.#scheduled)
      this.#knownBad.note(this.#scheduled, state.lastApply?.message ?? '');
    this.#scheduled = undefined;
  }

  #learnLoaded(planId: string | null): void {
    const plan = planId === null ? undefined : this.#plans.get(planId);
    if (planId === null || plan === undefined || this.#loaded?.planId === planId) return;
    this.#loaded = { planId, profiles: new Set(Object.keys(plan.profiles)) };
  }

  /** Asks for the stored plan when the pod has one that this process did not send. */
  async #learnPlan(signal: AbortSignal): Promise<void> {
    const { applied } = this.#state ?? {};
    if (applied === undefined || applied === null || this.#plans.has(applied)) return;
    const { plan, ...state } = await this.#client.state({ plan: true }, signal);
    const stored = plan === null || plan === undefined ? undefined : readStoredPlan(plan, applied);
    this.#learn(state);
    if (stored !== undefined) this.#remember(stored);
  }

  #remember(plan: RenderPlan): void {
    this.#plans.delete(plan.id);
    this.#plans.set(plan.id, plan);
    for (const id of [...this.#plans.keys()].slice(0, -REMEMBERED_PLANS)) this.#plans.delete(id);
  }

  /** What the pod runs: known only where its worker is in step with its files, or about to be. */
  #baseline(): RenderPlan | undefined {
    const state = this.#state;
    if (state === undefined || state.applied === null) return undefined;
    if (this.#drifted || (!state.inStep && state.pendingReload === null)) return undefined;
    return this.#plans.get(state.applied);
  }

  #signature(): string {
    const state = this.#state;
    if (state === undefined) return 'unreachable';
    const known = this.#baseline() !== undefined;
    const { applied, worker, haproxyVersion, pendingReload } = state;
    return JSON.stringify([applied, worker, haproxyVersion, pendingReload !== null, known]);
  }

  #report(): void {
    const signature = this.#signature();
    if (signature === this.#seen) return;
    this.#seen = signature;
    this.#facts.changed();
  }
}

import { withoutSecretWords, type Clock, type Outcome, type Rendered } from '@haptic/core/contract';
import type { AgentState, ApplyAnswer, ApplyMessage, Conflict } from '@haptic/agent/protocol';
import { AgentUnreachable } from './agent-client.ts';
import { ApplyAttempt } from './apply-attempt.ts';
import { applyMessage, revertMessage } from './apply-message.ts';
import { KnownBad } from './known-bad.ts';
import type { KnownPlans } from './known-plans.ts';
import type { Order } from './order.ts';
import { bytes, encoded, Oversize, tooLargeWords } from './oversize.ts';
import type { PlanChunks } from './plan-chunks.ts';
import { FIRST_PAUSE_MS, type PodLink } from './pod-link.ts';
import type { Tokens } from './tokens.ts';

/** What became of a write; who it was for and how long it took is known elsewhere. */
export type Result = Omit<Outcome, 'pod' | 'durationMs'>;

export interface WriterFacts {
  readonly link: PodLink;
  readonly tokens: Tokens;
  readonly plans: KnownPlans;
  readonly chunks: PlanChunks;
  readonly clock: Clock;
}

const MAX_ATTEMPTS = 5;
const TAKEN_OVER: Pick<Outcome, 'result' | 'stage' | 'message'> = {
  result: 'rejected',
  stage: 'fence',
  message: 'another controller writes to this agent',
};

/** Writes to one pod, again where it is not known what became of it; never called twice at once. */
export class PodWriter {
  readonly #facts: WriterFacts;
  readonly #knownBad: KnownBad;
  readonly #oversize = new Oversize();
  /** A plan whose reload was put off by the agent. */
  #scheduled: Rendered | undefined;
  /** What the pod took last. */
  #accepted: Rendered | undefined;
  /** Digests of the parts of plans that it keeps. */
  #keptChunks: ReadonlySet<string> = new Set();

  constructor(facts: WriterFacts) {
    this.#facts = facts;
    this.#knownBad = new KnownBad(facts.clock);
  }

  /** What the agent reports may be the end of a reload that it had put off. */
  learned(state: AgentState): void {
    if (this.#scheduled === undefined || state.pendingReload !== null) return;
    const { plan } = this.#scheduled;
    if (state.applied !== plan.id)
      this.#knownBad.note(plan.id, withoutSecretWords(state.lastApply?.message ?? '', this.#scheduled));
    this.#scheduled = undefined;
  }

  /** Brings the pod to the order's plan. */
  async apply(order: Order, signal: AbortSignal): Promise<Result> {
    const { reasons } = order.plan;
    const known = this.#knownBad.outcome(order.rendered.plan.id);
    if (known !== undefined) return { ...known, reasons };
    const attempt = new ApplyAttempt(order);
    return await this.#untilAnswered(reasons, signal, async () => {
      const { link } = this.#facts;
      const state = link.state ?? (await link.ask(signal));
      const words = this.#oversize.words(order.rendered.plan.id, state);
      if (words !== undefined) return overLimits(words, reasons);
      const message = this.#message(attempt, state);
      const sent = encoded(message);
      if ('tooLarge' in sent) return this.#tooLarge(sent.tooLarge, attempt, state);
      const reply = await link.client.apply(sent.text, signal);
      if (reply.kind === 'conflict') return await this.#settle(reply.conflict, attempt, signal);
      if (reply.kind === 'answer') return await this.#accept(reply.answer, order, signal);
      if (reply.kind === 'broken') return overLimits(reply.message, reasons);
      const said = tooLargeWords(
        message,
        bytes(Buffer.byteLength(sent.text)),
        `the agent says ${reply.message}`,
      );
      return this.#tooLarge(said, attempt, state);
    });
  }

  /** It is not built again while the pod has what it has. */
  #tooLarge(words: string, { order }: ApplyAttempt, state: AgentState): Result {
    this.#oversize.note(order.rendered.plan.id, state, words);
    return overLimits(words, order.plan.reasons);
  }

  /** Back to the last known good, if the pod carries the plan without its HAProxy having loaded it; undefined: it does not. */
  async revert(plan: string, signal: AbortSignal): Promise<Result | undefined> {
    const { link, tokens } = this.#facts;
    const reasons = ['revert_lkg'];
    let token: ApplyAttempt['token'];
    let isCarried = true;
    let outbid = false;
    const result = await this.#untilAnswered(reasons, signal, async () => {
      if (token === undefined) {
        const state = await link.ask(signal);
        isCarried = state.applied === plan && state.running !== plan;
        if (!isCarried) return { result: 'noop', reasons };
        token = tokens.next(state.token);
      }
      const reply = await link.client.apply(JSON.stringify(revertMessage(plan, token)), signal);
      if (reply.kind === 'answer') return await this.#reverted(reply.answer, reasons, signal);
      if (reply.kind !== 'conflict') return overLimits(reply.message, reasons);
      // The pod has moved on meanwhile, by a write of somebody's; what it has now is looked at anew.
      if (reply.conflict.reason === 'stale_epoch') {
        if (outbid || !(await tokens.outbid(reply.conflict.token, signal))) return { ...TAKEN_OVER, reasons };
        outbid = true;
      }
      token = undefined;
      return reply.conflict;
    });
    return isCarried ? result : undefined;
  }

  /** Unknown is what became of a request without an answer: the same one again, with the same token, gets that of the first. */
  async #untilAnswered(
    reasons: readonly string[],
    signal: AbortSignal,
    attempt: () => Promise<Result | Conflict>,
  ): Promise<Result> {
    const { link, clock } = this.#facts;
    let message = 'the agent did not answer';
    let pause = FIRST_PAUSE_MS;
    for (let count = 0; count < MAX_ATTEMPTS; count += 1) {
      try {
        // What belongs to an ended term must not get a token of the next one.
        signal.throwIfAborted();
        const reply = await attempt();
        if ('result' in reply) return reply;
        message = `conflict: ${reply.reason}`;
      } catch (error) {
        if (signal.aborted) return { result: 'unreachable', reasons, message: `out of time: ${message}` };
        if (!(error instanceof AgentUnreachable)) throw error;
        message = error.message;
        await clock.sleep(pause, signal).catch(() => {});
        pause *= 2;
      }
    }
    link.knowledge.lose();
    return { result: 'unreachable', reasons, message };
  }

  #message(attempt: ApplyAttempt, state: AgentState): ApplyMessage {
    const { order } = attempt;
    const { tokens, chunks, link } = this.#facts;
    if (attempt.token === undefined) {
      attempt.token = tokens.next(state.token);
      attempt.expect = state.applied;
      // Planned for another one than it has by now.
      attempt.full ||= order.plan.mode !== 'reload' && order.plan.from !== state.applied;
    }
    const before = this.#accepted;
    const isBase = !attempt.sendAll && before !== undefined && state.applied === before.plan.id;
    const base = isBase && attempt.missing.size === 0 && !link.knowledge.hasDrifted ? before : undefined;
    // Of a whole set the agent says what it lacks; all of it where it has none yet.
    const sendsAll = attempt.sendAll || state.applied === null || base !== undefined;
    const loads = attempt.full || order.plan.mode === 'reload';
    return applyMessage({
      rendered: order.rendered,
      protocol: state.protocol,
      token: attempt.token,
      expect: attempt.expect,
      mode: loads ? 'reload' : 'auto',
      changes: attempt.full ? undefined : order.plan,
      validated: order.validated,
      chunks,
      lacksChunk: (digest) => attempt.sendAll || attempt.missing.has(digest) || !this.#keptChunks.has(digest),
      before: base,
      lacks: ({ path }) => sendsAll || attempt.missing.has(path),
    });
  }

  /** Prepares the next attempt after a 409; or says why there shall be none. */
  async #settle(conflict: Conflict, attempt: ApplyAttempt, signal: AbortSignal): Promise<Conflict | Result> {
    const { link, tokens } = this.#facts;
    const { reasons, mode } = attempt.order.plan;
    if (conflict.reason === 'missing') {
      for (const name of [...(conflict.paths ?? []), ...(conflict.chunks ?? [])]) attempt.missing.add(name);
      // Not written yet, so the same token may be used again.
      return conflict;
    }
    if (conflict.reason === 'stale_epoch') {
      if (attempt.outbid || !(await tokens.outbid(conflict.token, signal))) return { ...TAKEN_OVER, reasons };
      attempt.outbid = true;
    }
    await link.ask(signal);
    // Nothing was to be changed, and that is what another one did.
    if (mode === 'noop' && conflict.reason !== 'stale_epoch') return { result: 'noop', reasons };
    // Other files are in place than this plan was made for: everything again, and loaded.
    attempt.full = mode !== 'noop';
    attempt.sendAll = conflict.reason === 'unknown_baseline';
    attempt.token = undefined;
    return conflict;
  }

  async #accept(said: ApplyAnswer, { plan, rendered }: Order, signal: AbortSignal): Promise<Result> {
    const { message } = said;
    const answer = message === undefined ? said : { ...said, message: withoutSecretWords(message, rendered) };
    const { link, tokens, plans } = this.#facts;
    link.knowledge.remember(rendered.plan);
    plans.sent(rendered.plan);
    this.#noteTaken(answer, rendered);
    tokens.accepted();
    if (answer.outcome === 'rejected' && answer.stage === 'reload') {
      this.#knownBad.note(rendered.plan.id, answer.message ?? '');
    }
    this.#scheduled = answer.outcome === 'scheduled' ? rendered : undefined;
    this.learned(await link.ask(signal));
    link.noteSeen();
    const words = [
      ...plan.reasons,
      ...(answer.fellBack ? ['fell_back'] : []),
      ...answer.skew.map((name) => `skew:${name}`),
    ];
    return resultOf(answer, words);
  }

  async #reverted(answer: ApplyAnswer, reasons: readonly string[], signal: AbortSignal): Promise<Result> {
    const { link, tokens } = this.#facts;
    tokens.accepted();
    this.#scheduled = undefined;
    await link.ask(signal);
    // What is deployed next starts from there.
    await link.learnPlan(signal);
    return resultOf(answer, reasons);
  }

  /** What the agent has from now on, to send only what is new the next time. */
  #noteTaken({ outcome, planId }: ApplyAnswer, rendered: Rendered): void {
    const { chunks, link } = this.#facts;
    if (outcome === 'rejected' || planId !== rendered.plan.id) return;
    this.#accepted = rendered;
    this.#keptChunks = new Set(chunks.of(rendered.plan).map(({ digest }) => digest));
    link.knowledge.mended();
  }
}

function overLimits(message: string, reasons: readonly string[]): Result {
  return { result: 'rejected', reasons, stage: 'limits', message };
}

function resultOf({ outcome, stage, message }: ApplyAnswer, reasons: readonly string[]): Result {
  return {
    result: outcome,
    reasons,
    ...(stage !== undefined && { stage }),
    ...(message !== undefined && { message }),
  };
}

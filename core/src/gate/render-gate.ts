import {
  Cancelled,
  type Clock,
  type Digest,
  type GateStatus,
  type HookContext,
  type LatchReason,
  type Log,
  type Pod,
  type Term,
} from '../contract/index.ts';
import type { Deferred, Evaluation, Pipeline } from '../pipeline/index.ts';
import { Latch } from './latch.ts';
import { PacedSlot } from './paced-slot.ts';
import { PendingChecks, planIdOf, type Check, type Unjudged } from './pending-checks.ts';
import { VerdictMemory } from './verdict-memory.ts';

export interface RenderGateParts<R extends Unjudged> {
  readonly pipeline: Pick<Pipeline, 'settle' | 'recall'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly pods: () => readonly Pod[];
  /** Plans that pods may run any moment, besides those that they report. */
  readonly underWay: () => readonly Digest[];
  /** How long to wait after the n-th time without a verdict, milliseconds. */
  readonly backoff: (failures: number) => number;
  /** All judges have answered about something that went out before. */
  readonly onSettled: (release: R, evaluation: Evaluation, isNewest: boolean) => void;
  /** HAProxy gave no verdict; it is asked again. `latched`: what went out last has none either. */
  readonly onUnanswered: (release: R, reason: string, latched: boolean) => void;
}

interface CurrentTerm<R extends Unjudged> {
  readonly term: Term;
  readonly signal: AbortSignal;
  readonly checks: PendingChecks<R>;
  working: boolean;
}

/**
 * Decides whether a render may go out before HAProxy has judged it, and has it judged then: the newest first, and whatever else a
 * pod still holds. It takes half of one core at most, and never a place of somebody who waits for an answer.
 *
 * No verdict on something that is out there is no refusal: pods keep it, since nothing speaks against it and taking it back would be
 * a change too. HAProxy is asked again, less often each time, and until it answers about what went out last, or something newer passes,
 * all renders are judged before they go out.
 */
export class RenderGate<R extends Unjudged> {
  /** For everything that judges while nobody waits. */
  readonly slot: PacedSlot;
  readonly #parts: RenderGateParts<R>;
  readonly #memory = new VerdictMemory();
  readonly #latch: Latch;
  #current: CurrentTerm<R> | undefined;

  constructor(parts: RenderGateParts<R>) {
    this.#parts = parts;
    this.#latch = new Latch(parts.clock);
    this.slot = new PacedSlot(parts.clock);
  }

  get status(): GateStatus {
    return { ...this.#latch.state, pending: this.#current?.checks.planIds ?? [] };
  }

  /** Why a render is to be judged before it goes out; undefined: it need not. */
  get latched(): LatchReason | undefined {
    const state = this.#latch.state;
    return state.state === 'latched' ? state.reason : undefined;
  }

  /**
   * A term goes on, or another one begins: nothing is left of the one before but what HAProxy said about contents.
   *
   * @param signal Aborts when the term ends or the process stops.
   */
  enter(term: Term, signal: AbortSignal): void {
    const known = this.#current;
    if (known?.term.epoch === term.epoch && known.term.signal === term.signal && !known.signal.aborted)
      return;
    const { pods, underWay } = this.#parts;
    this.#current = { term, signal, checks: new PendingChecks(pods, underWay), working: false };
    this.#latch.restart();
  }

  /** What HAProxy said to whoever waited for it settles that content as well. */
  note({ rendered, haproxy }: Evaluation): void {
    this.#memory.keep(rendered.plan.id, haproxy);
  }

  /** From now on renders are judged before they go out. */
  latch(): void {
    this.#latch.close('refused');
  }

  /** Something went out that all judges have passed before. */
  sentJudged({ rendered, haproxy }: Evaluation): void {
    const { id } = rendered.plan;
    this.#current?.checks.superseded();
    this.#current?.checks.settled(id);
    this.#memory.keep(id, haproxy);
    this.#latch.open();
  }

  /** What went out last has passed. */
  open(): void {
    this.#latch.open();
  }

  /** The complete answer, where HAProxy has judged the same content before. */
  recall(deferred: Deferred, context: HookContext): Promise<Evaluation> | undefined {
    const verdict = this.#memory.recall(deferred.candidate.rendered);
    return verdict && this.#parts.pipeline.recall(deferred, verdict, context);
  }

  /** It went out; HAProxy is still to judge it. */
  submit(release: R): void {
    this.#current?.checks.add(release);
    this.look();
  }

  /** Pods may report something else now. */
  look(): void {
    const current = this.#current;
    if (current === undefined || current.working || current.signal.aborted) return;
    current.working = true;
    void this.#work(current);
  }

  async #work(current: CurrentTerm<R>): Promise<void> {
    const { clock, log } = this.#parts;
    const { signal, checks } = current;
    try {
      while (checks.next(clock.now()) !== undefined) {
        await this.slot.run(signal, async () => {
          // Only now: something newer may have gone out while this waited.
          const check = checks.next(clock.now());
          if (check !== undefined) await this.#judge(check, current);
        });
      }
    } catch (error) {
      if (!(error instanceof Cancelled)) log.error({ err: error }, 'the render gate met a bug');
    } finally {
      current.working = false;
    }
  }

  async #judge({ release: { deferred } }: Check<R>, { signal, checks }: CurrentTerm<R>): Promise<void> {
    const { pipeline } = this.#parts;
    const id = planIdOf({ deferred });
    const context: HookContext = { signal, caller: 'reconcile', background: true };
    const evaluation = await pipeline.settle(deferred, context).catch((error: unknown) => {
      if (error instanceof Cancelled) throw error;
      this.#failed(id, error, { signal, checks });
    });
    if (evaluation === undefined) return;
    const { haproxy } = evaluation;
    // The same content may have gone out again meanwhile: the answer is about that as well.
    const { release } = checks.get(id) ?? {};
    if (release === undefined) return this.#memory.keep(id, haproxy);
    if (haproxy.kind === 'interrupted') return this.#unanswered(release, haproxy.reason, { signal, checks });
    this.#memory.keep(id, haproxy);
    if (haproxy.kind === 'refused') this.latch();
    const isNewest = checks.isNewest(id);
    checks.settled(id);
    this.#parts.onSettled(release, evaluation, isNewest);
  }

  /** To ask has failed, which is no verdict either. */
  #failed(id: Digest, error: unknown, current: Pick<CurrentTerm<R>, 'signal' | 'checks'>): void {
    this.#parts.log.error({ err: error, planId: id }, 'a check of the render gate failed');
    const { release } = current.checks.get(id) ?? {};
    const reason = error instanceof Error ? error.message : String(error);
    if (release !== undefined) this.#unanswered(release, reason, current);
  }

  #unanswered(
    release: R,
    reason: string,
    { signal, checks }: Pick<CurrentTerm<R>, 'signal' | 'checks'>,
  ): void {
    const { clock, backoff, onUnanswered } = this.#parts;
    // What was judged and went out after it has opened the latch already, and nothing would open it again.
    const latches = checks.awaitsNewest;
    if (latches) this.#latch.close('no-verdict');
    checks.postponed(planIdOf(release), (failures) => {
      const wait = backoff(failures);
      clock.sleep(wait, signal).then(
        () => this.look(),
        () => {},
      );
      return clock.now() + wait;
    });
    onUnanswered(release, reason, latches);
  }
}

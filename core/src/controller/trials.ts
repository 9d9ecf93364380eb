import { Cancelled, type Clock, type HookContext, type Log, type RenderInput } from '../contract/index.ts';
import type { PacedSlot } from '../gate/index.ts';
import type { Evaluation, Pipeline } from '../pipeline/index.ts';
import { tryOnTheSide, type Quarantine } from '../quarantine/index.ts';

export interface TrialsParts {
  readonly pipeline: Pipeline;
  readonly quarantine: Quarantine;
  readonly clock: Clock;
  readonly log: Log;
  readonly slot: () => PacedSlot;
  /** Told of every evaluation. */
  readonly onEvaluated: (evaluation: Evaluation) => void;
  /** Asks for the next trial in so many milliseconds. */
  readonly tryIn: (ms: number) => void;
  readonly reconcileIn: (ms: number) => void;
}

/** Between two trials at least: one that had no verdict is not tried in a circle. */
const PAUSE_MS = 1_000;

/** Tries held objects by themselves, so that those of one namespace keep nobody else waiting. One at a time, beside the reconciles. */
export class Trials {
  readonly #parts: TrialsParts;
  #running: Promise<void> | undefined;

  constructor(parts: TrialsParts) {
    this.#parts = parts;
  }

  /** Something may have become due. */
  plan(input: RenderInput): void {
    const next = this.#parts.quarantine.nextTrial(input);
    if (next !== undefined) this.#parts.tryIn(this.#running === undefined ? next : Math.max(next, PAUSE_MS));
  }

  /** @param current What a reconcile would render now. */
  start(current: () => Promise<RenderInput>, signal: AbortSignal): void {
    if (this.#running !== undefined) {
      // One that was called off may still be ending: what was due then is due afterwards.
      this.#parts.tryIn(PAUSE_MS);
      return;
    }
    this.#running = this.#run(current, signal).finally(() => {
      this.#running = undefined;
    });
  }

  async idle(): Promise<void> {
    await this.#running;
  }

  async #run(current: () => Promise<RenderInput>, signal: AbortSignal): Promise<void> {
    const { quarantine, slot, log, reconcileIn } = this.#parts;
    const pipeline = { evaluate: (...call: Parameters<Pipeline['evaluate']>) => this.#evaluate(...call) };
    const context: HookContext = { signal, caller: 'reconcile', background: true };
    try {
      const hasNews = await slot().run(signal, async () =>
        tryOnTheSide(pipeline, quarantine, await current(), context),
      );
      if (hasNews) reconcileIn(0);
      this.plan(await current());
    } catch (error) {
      if (error instanceof Cancelled) return;
      log.warn({ err: error }, 'held objects could not be tried, they are tried again');
      this.#parts.tryIn(PAUSE_MS);
    }
  }

  async #evaluate(...call: Parameters<Pipeline['evaluate']>): Promise<Evaluation> {
    const { pipeline, onEvaluated } = this.#parts;
    const evaluation = await pipeline.evaluate(...call);
    onEvaluated(evaluation);
    return evaluation;
  }
}

import { Cancelled, type Log } from '../contract/index.ts';
import type { Examined } from './config-judge.ts';
import type { Candidate } from './config-loader.ts';

export interface ExaminationsParts {
  readonly log: Log;
  /** Undefined for one that does not pass. */
  readonly examine: (
    candidate: Candidate,
    signal: AbortSignal,
    before: Examined | undefined,
  ) => Promise<Examined | undefined>;
  readonly onPassed: (examined: Examined) => void;
  /** Somebody asked for an examination while this one was under way. */
  readonly onAskedMeanwhile: (examined: Candidate) => void;
}

interface Running {
  readonly candidate: Candidate;
  readonly off: AbortController;
  readonly ended: Promise<void>;
}

/**
 * Has configurations examined beside the loop, one at a time: however long their tests and judges take, and if one of them never
 * answers, what serves is kept up to date meanwhile.
 */
export class Examinations {
  readonly #parts: ExaminationsParts;
  #running: Running | undefined;
  #isAskedAgain = false;

  constructor(parts: ExaminationsParts) {
    this.#parts = parts;
  }

  /**
   * One of another configuration is called off: nobody wants to know any more.
   *
   * @param before It passed then, and is to be judged over what is so now.
   */
  start(candidate: Candidate, signal: AbortSignal, before?: Examined): void {
    const running = this.#running;
    if (running !== undefined) {
      this.#isAskedAgain = true;
      if (running.candidate !== candidate) running.off.abort();
      return;
    }
    const off = new AbortController();
    const ended = this.#run(candidate, AbortSignal.any([off.signal, signal]), before).finally(() => {
      this.#running = undefined;
      if (!this.#isAskedAgain || signal.aborted) return;
      this.#isAskedAgain = false;
      this.#parts.onAskedMeanwhile(candidate);
    });
    this.#running = { candidate, off, ended };
  }

  /** Nobody wants to know any more. */
  cancel(): void {
    this.#running?.off.abort();
  }

  /** Resolves when nothing is under way any more. */
  async idle(): Promise<void> {
    await this.#running?.ended;
  }

  async #run(candidate: Candidate, signal: AbortSignal, before: Examined | undefined): Promise<void> {
    const { examine, onPassed, log } = this.#parts;
    try {
      const examined = await examine(candidate, signal, before);
      if (examined !== undefined && !signal.aborted) onPassed(examined);
    } catch (error) {
      if (signal.aborted || error instanceof Cancelled) return;
      log.error({ err: error }, 'the examination of a configuration met a bug');
    }
  }
}

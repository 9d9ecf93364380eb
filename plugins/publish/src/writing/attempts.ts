import { Cancelled, type Log } from '@haptic/core/contract';
import { apiErrorOf, refusalOf, type ApiError } from '@haptic/kube';
import { Complaints } from './complaints.ts';
import { isUnanswered, Later } from './later.ts';

export interface AttemptsParts {
  readonly log: Log;
  /** What to log of one that fails. */
  readonly sentence: string;
  /** Called with each failure. */
  readonly failed?: (about: string, error: unknown) => void;
}

/** Work on many objects, none of which holds up the others. */
export class Attempts {
  readonly #parts: AttemptsParts;
  readonly #complaints: Complaints;
  #failed: string[] = [];
  #unanswered = false;
  #refusal: ApiError | undefined;

  constructor(parts: AttemptsParts) {
    this.#parts = parts;
    this.#complaints = new Complaints(parts.log);
  }

  /** Whether it succeeded. @throws Cancelled, or what asks to be left alone: then nothing more is tried in this pass */
  async make(about: string, work: () => Promise<void>): Promise<boolean> {
    try {
      await work();
      this.#complaints.settled(about);
      return true;
    } catch (error) {
      if (error instanceof Cancelled || asksToWait(error)) throw error;
      const { sentence, failed } = this.#parts;
      this.#complaints.complain(about, error, sentence);
      failed?.(about, error);
      this.#failed.push(about);
      this.#unanswered ||= isUnanswered(error);
      this.#refusal ??= refusalOf(error);
      return false;
    }
  }

  /** At the end of a pass. @throws Later when something failed in it */
  end(): void {
    const [failed, unanswered, cause] = [this.#failed, this.#unanswered, this.#refusal];
    this.#failed = [];
    this.#unanswered = false;
    this.#refusal = undefined;
    if (failed.length > 0) {
      const words =
        failed.length === 1 ? 'is not written yet' : `and ${failed.length - 1} more are not written yet`;
      throw new Later(`${failed[0]} ${words}`, { unanswered, cause });
    }
  }
}

/** A server that is too busy is so for every object. */
function asksToWait(error: unknown): boolean {
  const answer = apiErrorOf(error);
  return answer !== undefined && (answer.code === 429 || answer.retryAfter !== undefined);
}

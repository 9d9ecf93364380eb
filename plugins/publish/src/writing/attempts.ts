import { Cancelled, Retry, type Log } from '@haptic/core/contract';
import { ApiError } from '@haptic/kube';
import { Complaints } from './complaints.ts';

/** Work on many objects, none of which holds up the others. */
export class Attempts {
  readonly #complaints: Complaints;
  readonly #sentence: string;
  #failed: string[] = [];

  /** @param sentence What to log of one that fails. */
  constructor(log: Log, sentence: string) {
    this.#complaints = new Complaints(log);
    this.#sentence = sentence;
  }

  /** Whether it succeeded. @throws Cancelled, or what asks to be left alone: then nothing more is tried in this pass */
  async make(about: string, work: () => Promise<void>): Promise<boolean> {
    try {
      await work();
      this.#complaints.settled(about);
      return true;
    } catch (error) {
      if (error instanceof Cancelled || asksToWait(error)) throw error;
      this.#complaints.complain(about, error, this.#sentence);
      this.#failed.push(about);
      return false;
    }
  }

  /** At the end of a pass. @throws Retry when something failed in it */
  end(): void {
    const failed = this.#failed;
    this.#failed = [];
    if (failed.length > 0)
      throw new Retry(`${failed.length} objects are not written yet, such as ${failed[0]}`);
  }
}

/** A server that is too busy is so for every object. */
export function asksToWait(error: unknown): boolean {
  return error instanceof ApiError && (error.code === 429 || error.retryAfter !== undefined);
}

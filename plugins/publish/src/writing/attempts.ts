import { Cancelled, Retry, type Log } from '@haptic/core/contract';
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

  /** Whether it succeeded. @throws Cancelled */
  async make(about: string, work: () => Promise<void>): Promise<boolean> {
    try {
      await work();
      this.#complaints.settled(about);
      return true;
    } catch (error) {
      if (error instanceof Cancelled) throw error;
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

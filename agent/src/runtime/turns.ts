/**
 * Keeps what changes a worker apart from what looks at all that it holds. HAProxy does not: in releases before 3.2.22 and 3.4.3 a
 * server that is deleted while servers are listed is read after it was freed, and while certificates are listed every change of one
 * is refused.
 */
export class Turns {
  readonly #looks = new Set<Promise<unknown>>();
  #lastChange: Promise<unknown> = Promise.resolve();
  #changes = 0;

  /** Runs it when the changes before it, and the looks that are under way, have ended. */
  change<T>(work: () => Promise<T>): Promise<T> {
    this.#changes += 1;
    const turn = Promise.allSettled([this.#lastChange, ...this.#looks])
      .then(work)
      .finally(() => (this.#changes -= 1));
    this.#lastChange = turn.catch(() => {});
    return turn;
  }

  /** Runs it at once; undefined where something changes, or is about to: what is seen then is neither the one nor the other. */
  async look<T>(work: () => Promise<T>): Promise<T | undefined> {
    if (this.#changes > 0) return undefined;
    const look = work();
    this.#looks.add(look);
    try {
      return await look;
    } finally {
      this.#looks.delete(look);
    }
  }
}

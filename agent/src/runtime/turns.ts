/**
 * One at a time for what changes a worker and what looks at all that it holds. HAProxy does not keep them apart: in releases before
 * 3.2.22 and 3.4.3 a server that is deleted while servers are listed is read after it was freed, and while certificates are listed
 * every change of one is refused.
 */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs it when everything that came before has ended. */
  take<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => {});
    return turn;
  }
}

/** Long polls: wait until something about the agent changes. */
export class Waiters {
  readonly #waiting = new Set<() => void>();

  wake(): void {
    for (const resolve of this.#waiting) resolve();
  }

  /** Resolves at the next change, after `ms`, or when the signal aborts. */
  async wait(ms: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    const done = (): void => resolve();
    signal.addEventListener('abort', done, { once: true });
    this.#waiting.add(done);
    await promise;
    this.#waiting.delete(done);
    signal.removeEventListener('abort', done);
    clearTimeout(timer);
  }
}

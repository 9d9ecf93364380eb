/** How long a pod may take to come for the turn that it was given, milliseconds: a new plan has to be made for it. */
export const TURN_MS = 5_000;

/** Who may reload now: never all pods at once. */
export class ReloadLane {
  readonly #now: () => number;
  readonly #width: () => number;
  readonly #taken = new Set<string>();
  /** Turns that were given and not yet taken, with the time at which they go to somebody else. */
  readonly #turns = new Map<string, number>();
  /** Those that do not go away and come again; they come first. */
  readonly #waiting: { readonly pod: string; readonly enter: () => void }[] = [];

  /** @param width How many at once. */
  constructor(now: () => number, width: () => number) {
    this.#now = now;
    this.#width = width;
  }

  /** Somebody who keeps the others out. */
  get holder(): string | undefined {
    return [...this.#taken, ...this.#turns.keys()][0];
  }

  /** False: all turns are taken. */
  tryTake(pod: string): boolean {
    if (!this.#taken.has(pod) && !this.isFreeFor(pod)) return false;
    this.#turns.delete(pod);
    this.#taken.add(pod);
    return true;
  }

  isFreeFor(pod: string): boolean {
    if (this.#taken.has(pod) || this.#turns.has(pod)) return true;
    return this.#waiting.length === 0 && this.#isFree();
  }

  /** Keeps a turn for a pod that will come for it. */
  reserve(pod: string): void {
    if (!this.#taken.has(pod)) this.#turns.set(pod, this.#now() + TURN_MS);
  }

  /** Waits for a turn. @throws the signal's reason */
  async take(pod: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter = { pod, enter: resolve };
    this.#waiting.push(waiter);
    const abort = (): void => {
      const at = this.#waiting.indexOf(waiter);
      if (at !== -1) this.#waiting.splice(at, 1);
      reject(signal.reason as Error);
    };
    signal.addEventListener('abort', abort, { once: true });
    this.#admit();
    try {
      await promise;
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }

  free(pod: string): void {
    this.#taken.delete(pod);
    this.#turns.delete(pod);
    this.#admit();
  }

  #admit(): void {
    while (this.#waiting.length > 0 && this.#isFree()) {
      const { pod, enter } = this.#waiting.shift()!;
      this.#taken.add(pod);
      enter();
    }
  }

  #isFree(): boolean {
    for (const [pod, until] of this.#turns) if (until <= this.#now()) this.#turns.delete(pod);
    return this.#taken.size + this.#turns.size < Math.max(1, this.#width());
  }
}

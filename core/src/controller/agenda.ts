import { Cancelled, type Clock } from '../contract/index.ts';

interface Entry {
  readonly at: number;
  /** When it was first put down. */
  readonly since: number;
}

/**
 * What there is to do and when. One consumer takes what is due, all of it at once: whatever piles up while it works is one piece
 * of work afterwards, over the newest state.
 */
export class Agenda<T extends string> {
  readonly #clock: Clock;
  readonly #entries = new Map<T, Entry>();
  #wake: () => void = () => {};

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** In so many milliseconds; of two times the earlier holds. */
  add(task: T, delay = 0): void {
    const now = this.#clock.now();
    const known = this.#entries.get(task);
    this.#set(task, { at: Math.min(now + delay, known?.at ?? Infinity), since: known?.since ?? now });
  }

  /** As `add`, but of two times the later holds, no later than `limit` after the task was first put down. */
  postpone(task: T, delay: number, limit: number): void {
    const now = this.#clock.now();
    const since = this.#entries.get(task)?.since ?? now;
    this.#set(task, { at: Math.min(now + delay, since + limit), since });
  }

  /** Whether the next `take` hands it out at once. */
  isDue(task: T): boolean {
    return (this.#entries.get(task)?.at ?? Infinity) <= this.#clock.now();
  }

  /** Waits until something is due and takes it. @throws Cancelled */
  async take(signal: AbortSignal): Promise<ReadonlySet<T>> {
    for (;;) {
      if (signal.aborted) throw new Cancelled();
      const now = this.#clock.now();
      const due = [...this.#entries].filter(([, { at }]) => at <= now).map(([task]) => task);
      for (const task of due) this.#entries.delete(task);
      if (due.length > 0) return new Set(due);
      await this.#nextChange(now, signal);
    }
  }

  #set(task: T, entry: Entry): void {
    this.#entries.set(task, entry);
    this.#wake();
  }

  /** Until the earliest time has come, or the agenda changed. */
  async #nextChange(now: number, signal: AbortSignal): Promise<void> {
    const woken = new AbortController();
    const either = AbortSignal.any([woken.signal, signal]);
    this.#wake = () => woken.abort();
    const earliest = Math.min(...[...this.#entries.values()].map(({ at }) => at));
    if (earliest === Infinity) {
      await new Promise<void>((resolve) => either.addEventListener('abort', () => resolve(), { once: true }));
      return;
    }
    await this.#clock.sleep(earliest - now, either).catch((error: unknown) => {
      if (!(error instanceof Cancelled)) throw error;
    });
  }
}

import type { Clock } from '../contract/observability.ts';

/** Who is running what: the list to print when a stop hangs. */
export interface PendingRun {
  readonly plugin: string;
  readonly hook: string;
  readonly runningMs: number;
}

interface Run {
  readonly plugin: string;
  readonly hook: string;
  readonly since: number;
  readonly settled: Promise<unknown>;
}

/** Everything asynchronous that plugins were asked to do and have not settled, also when nobody waits for it any longer. */
export class PendingRuns {
  readonly #runs = new Set<Run>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  track<T>(plugin: string, hook: string, work: Promise<T>): Promise<T> {
    const forget = (): void => {
      this.#runs.delete(run);
    };
    const run: Run = { plugin, hook, since: this.#clock.now(), settled: work.then(forget, forget) };
    this.#runs.add(run);
    return work;
  }

  list(): PendingRun[] {
    const now = this.#clock.now();
    return Array.from(this.#runs, ({ plugin, hook, since }) => ({ plugin, hook, runningMs: now - since }));
  }

  /** Settles when nothing that this plugin runs now is pending. */
  async settled(plugin: string): Promise<void> {
    const own = [...this.#runs].filter((run) => run.plugin === plugin);
    await Promise.all(own.map((run) => run.settled));
  }
}

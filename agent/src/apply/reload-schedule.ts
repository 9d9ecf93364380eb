import type { Clock } from '@haptic/core/contract';

/** The one reload that waits for its turn. */
export class ReloadSchedule {
  readonly #clock: Clock;
  #pending: { readonly dueAt: number; readonly timer: NodeJS.Timeout } | undefined;

  constructor(clock: Clock, signal: AbortSignal) {
    this.#clock = clock;
    signal.addEventListener('abort', () => this.cancel(), { once: true });
  }

  /** Monotonic, milliseconds. */
  get dueAt(): number | undefined {
    return this.#pending?.dueAt;
  }

  /** One that waits already keeps its turn: the newest files win. */
  set(ms: number, due: () => void): void {
    if (this.#pending !== undefined) return;
    this.#pending = { dueAt: this.#clock.now() + ms, timer: setTimeout(due, ms) };
  }

  cancel(): void {
    clearTimeout(this.#pending?.timer);
    this.#pending = undefined;
  }
}

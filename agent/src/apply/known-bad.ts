import type { Clock } from '@haptic/core/contract';

/** How long files that HAProxy refused are not tried again, milliseconds. */
const MEMORY_MS = 60_000;
/** More of them at once than controllers take turns with. */
const MOST = 16;

/** The plans whose files HAProxy refused lately: only its own verdict counts. */
export class KnownBad {
  readonly #clock: Clock;
  readonly #plans = new Map<string, { readonly words: string; readonly until: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  note(planId: string, words: string): void {
    this.#plans.delete(planId);
    this.#plans.set(planId, { words, until: this.#clock.now() + MEMORY_MS });
    for (const oldest of [...this.#plans.keys()].slice(0, -MOST)) this.#plans.delete(oldest);
  }

  /** HAProxy runs it now. */
  forget(planId: string): void {
    this.#plans.delete(planId);
  }

  /** What HAProxy said of it; undefined when nothing is known against it, as against what no controller sent. */
  words(planId: string | null): string | undefined {
    const known = this.#plans.get(planId ?? '');
    return known !== undefined && this.#clock.now() < known.until ? known.words : undefined;
  }
}

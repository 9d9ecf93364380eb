import type { PlannedEvent, Term } from '@haptic/core/contract';
import { EventRecorder, type EventRecorderOptions, type Occurrence } from '@haptic/kube';
import { plannedOccurrence } from './occurrences.ts';

/** Events of one term after the other: what was not written when a term ended is not written at all. */
export class TermEvents {
  readonly #options: EventRecorderOptions;
  readonly #stop: AbortSignal;
  #recorder: EventRecorder | undefined;
  #running: Promise<unknown> = Promise.resolve();
  /** What the last release planned: it is not told again with each. */
  #planned: ReadonlySet<string> = new Set();

  constructor(options: EventRecorderOptions, stop: AbortSignal) {
    this.#options = options;
    this.#stop = stop;
  }

  /** A term has begun or ended. */
  termChanged({ leader, signal }: Term): void {
    this.#recorder = undefined;
    this.#planned = new Set();
    if (!leader || this.#stop.aborted) return;
    const recorder = new EventRecorder(this.#options);
    this.#recorder = recorder;
    const before = this.#running;
    this.#running = Promise.all([before, recorder.run(AbortSignal.any([signal, this.#stop]))]);
  }

  /** Outside of a term nothing becomes of it. */
  record(occurrence: Occurrence | undefined): void {
    if (occurrence !== undefined) this.#recorder?.record(occurrence);
  }

  released(events: readonly PlannedEvent[]): void {
    const before = this.#planned;
    const keyed = events.map((event) => [JSON.stringify(event), event] as const);
    this.#planned = new Set(keyed.map(([key]) => key));
    for (const [key, event] of keyed) if (!before.has(key)) this.record(plannedOccurrence(event));
  }

  async idle(): Promise<void> {
    await this.#running;
  }
}

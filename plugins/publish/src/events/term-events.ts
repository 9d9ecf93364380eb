import { Cancelled, type MetricDefinition, type PlannedEvent, type Term } from '@haptic/core/contract';
import { countDropped, EventRecorder, type EventRecorderOptions, type Occurrence } from '@haptic/kube';
import { plannedOccurrence } from './occurrences.ts';

/** What was too much is told this much later. Milliseconds. */
const AGAIN_MS = 30_000;
/** Occurrences that wait; what a release planned waits besides, as it is kept anyway. */
const MOST_WAITING = 10_000;

const WAITING: MetricDefinition = {
  name: 'haptic_events_waiting',
  help: 'Events that are too many to be written now; they are written later.',
};

/** Events of one term after the other: what was not written when a term ended is not written at all. */
export class TermEvents {
  readonly #options: EventRecorderOptions;
  readonly #stop: AbortSignal;
  #recorder: EventRecorder | undefined;
  #running: Promise<unknown> = Promise.resolve();
  /** What the last release planned: it is not told again with each. */
  #planned: ReadonlyMap<string, PlannedEvent> = new Map();
  readonly #told = new Set<string>();
  /** What happened besides and was too much; a newer word about the same replaces it. */
  readonly #waiting = new Map<string, Occurrence>();

  constructor(options: EventRecorderOptions, stop: AbortSignal) {
    this.#options = options;
    this.#stop = stop;
  }

  /** A term has begun or ended. */
  termChanged({ leader, signal: term }: Term): void {
    this.#recorder = undefined;
    this.#planned = new Map();
    this.#told.clear();
    this.#waiting.clear();
    this.#measure();
    if (!leader || this.#stop.aborted) return;
    const recorder = new EventRecorder(this.#options);
    const signal = AbortSignal.any([term, this.#stop]);
    this.#recorder = recorder;
    this.#running = Promise.all([this.#running, recorder.run(signal), this.#tellAgain(signal)]);
  }

  /** Outside of a term nothing becomes of it. */
  record(occurrence: Occurrence | undefined): void {
    if (occurrence === undefined || this.#recorder === undefined) return;
    const key = JSON.stringify([occurrence.regarding, occurrence.action]);
    if (this.#waiting.delete(key)) countDropped(this.#options.meter, 'limit');
    if (!this.#recorder.record(occurrence)) {
      if (this.#waiting.size < MOST_WAITING) this.#waiting.set(key, occurrence);
      else countDropped(this.#options.meter, 'limit');
    }
    this.#measure();
  }

  released(events: readonly PlannedEvent[]): void {
    if (this.#recorder === undefined) return;
    this.#planned = new Map(events.map((event) => [JSON.stringify(event), event]));
    for (const key of this.#told) if (!this.#planned.has(key)) this.#told.delete(key);
    this.#tell(this.#recorder);
  }

  async idle(): Promise<void> {
    await this.#running;
  }

  async #tellAgain(signal: AbortSignal): Promise<void> {
    try {
      for (;;) {
        await this.#options.clock.sleep(AGAIN_MS, signal);
        if (this.#recorder !== undefined) this.#tell(this.#recorder);
      }
    } catch (error) {
      if (!(error instanceof Cancelled)) throw error;
    }
  }

  #tell(recorder: EventRecorder): void {
    for (const [key, occurrence] of this.#waiting) {
      if (recorder.record(occurrence)) this.#waiting.delete(key);
    }
    for (const [key, event] of this.#planned) {
      if (!this.#told.has(key) && recorder.record(plannedOccurrence(event))) this.#told.add(key);
    }
    this.#measure();
  }

  #measure(): void {
    const waiting = this.#waiting.size + this.#planned.size - this.#told.size;
    this.#options.meter.gauge(WAITING, waiting);
  }
}

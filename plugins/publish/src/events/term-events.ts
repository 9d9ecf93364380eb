import {
  Cancelled,
  Retry,
  type MetricDefinition,
  type PlannedEvent,
  type QuarantinedObject,
  type Term,
} from '@haptic/core/contract';
import {
  Backoff,
  countDropped,
  EventRecorder,
  type EventRecorderOptions,
  type Occurrence,
} from '@haptic/kube';
import { heldOccurrence, plannedOccurrence } from './occurrences.ts';
import { Refusals } from './refusals.ts';
import { digestOf, latest, type EventMemory } from './told-events.ts';

export interface TermEventsParts extends EventRecorderOptions {
  readonly memory?: EventMemory;
}

/** What was too much is told this much later. Milliseconds. */
const AGAIN_MS = 30_000;
/** Occurrences that wait; what holds on waits besides, as it is kept anyway. */
const MOST_WAITING = 10_000;
const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 30_000;

const WAITING: MetricDefinition = {
  name: 'haptic_events_waiting',
  help: 'Events that are too many or refused now; they are written later.',
};

type Standing = ReadonlyMap<string, Occurrence>;

/** Events of one term after the other: what was not written when a term ended is not written at all. */
export class TermEvents {
  readonly #parts: TermEventsParts;
  readonly #stop: AbortSignal;
  #recorder: EventRecorder | undefined;
  #running: Promise<unknown> = Promise.resolve();
  /** What holds on, by digest: what the last release planned and what is wrong with what it declares, and what is held. */
  #planned: Standing | undefined;
  #problems: Standing | undefined;
  #held: Standing = new Map();
  /** Written, of what holds on or did in a term before; undefined while that is not known. */
  #told: Set<string> | undefined;
  /** Of what holds on: with the recorder, and what the server refused. */
  #queued = new Set<string>();
  #refusals: Refusals;
  #untold = 0;
  /** What happened besides and was too much; a newer word about the same replaces it. */
  readonly #waiting = new Map<string, Occurrence>();

  constructor(parts: TermEventsParts, stop: AbortSignal) {
    this.#parts = parts;
    this.#stop = stop;
    this.#refusals = new Refusals(parts.clock);
  }

  /** A term has begun or ended. */
  termChanged({ leader, signal: term }: Term): void {
    this.#recorder = undefined;
    this.#planned = undefined;
    this.#problems = undefined;
    this.#held = new Map();
    this.#told = this.#parts.memory === undefined ? new Set() : undefined;
    this.#queued = new Set();
    this.#refusals = new Refusals(this.#parts.clock);
    this.#waiting.clear();
    this.#untold = 0;
    this.#measure();
    if (!leader || this.#stop.aborted) return;
    const recorder = new EventRecorder(this.#parts);
    const signal = AbortSignal.any([term, this.#stop]);
    this.#recorder = recorder;
    const all = [this.#running, recorder.run(signal), this.#recall(term, signal), this.#tellAgain(signal)];
    this.#running = Promise.all(all);
  }

  /** Outside of a term nothing becomes of it. */
  record(occurrence: Occurrence | undefined): void {
    if (occurrence === undefined || this.#recorder === undefined) return;
    const key = JSON.stringify([occurrence.regarding, occurrence.action]);
    if (this.#waiting.delete(key)) countDropped(this.#parts.meter, 'limit');
    if (!this.#recorder.record(occurrence)) {
      if (this.#waiting.size < MOST_WAITING) this.#waiting.set(key, occurrence);
      else countDropped(this.#parts.meter, 'limit');
    }
    this.#measure();
  }

  /** All that is held. Who has edited it in vain is told again, though in the same words; not when it is only tried again. */
  held(all: readonly QuarantinedObject[]): void {
    if (this.#recorder === undefined) return;
    const told = all.map((one) => [one.revision, heldOccurrence(one)] as const);
    this.#held = new Map(told.map(([revision, one]) => [digestOf(one, revision), one]));
    this.#forget();
    this.#tell(this.#recorder);
  }

  released(events: readonly PlannedEvent[]): void {
    if (this.#recorder === undefined) return;
    this.#planned = byDigest(events.map(plannedOccurrence));
    this.#forget();
    this.#tell(this.#recorder);
  }

  /** All that is wrong with what the last release declares. */
  problems(all: readonly Occurrence[]): void {
    if (this.#recorder === undefined) return;
    this.#problems = byDigest(all);
    this.#forget();
    this.#tell(this.#recorder);
  }

  async idle(): Promise<void> {
    await this.#running;
  }

  /** What a leader before has told is not told again. */
  async #recall(term: AbortSignal, signal: AbortSignal): Promise<void> {
    const { memory, clock, log } = this.#parts;
    if (memory === undefined) return;
    const backoff = new Backoff({ first: FIRST_RETRY_MS, most: LONGEST_RETRY_MS, random: Math.random });
    while (!signal.aborted) {
      try {
        const told = await memory.recall(term);
        if (!signal.aborted) this.#told = new Set(told);
        this.#forget();
        break;
      } catch (error) {
        if (error instanceof Retry) await clock.sleep(backoff.next(error), signal).catch(() => undefined);
        else {
          log.warn({ err: error }, 'which Events were told is not known: some may be told again');
          this.#told = new Set();
          break;
        }
      }
    }
    if (!signal.aborted && this.#recorder !== undefined) this.#tell(this.#recorder);
  }

  async #tellAgain(signal: AbortSignal): Promise<void> {
    try {
      for (;;) {
        await this.#parts.clock.sleep(AGAIN_MS, signal);
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
    if (this.#told !== undefined) this.#tellStanding(recorder, this.#told);
    this.#measure();
  }

  #tellStanding(recorder: EventRecorder, told: Set<string>): void {
    this.#untold = 0;
    this.#refusals.keepOnly((digest) => this.#isStanding(digest));
    const standing = [...this.#held, ...(this.#problems ?? []), ...(this.#planned ?? [])];
    for (const [digest, occurrence] of standing) {
      if (told.has(digest) || this.#queued.has(digest)) continue;
      const settled = (isWritten: boolean): void => this.#settled(recorder, digest, isWritten);
      if (!this.#refusals.isPaused(digest) && recorder.record(occurrence, settled)) this.#queued.add(digest);
      else this.#untold += 1;
    }
    this.#parts.memory?.keep(latest(told));
  }

  /** Only what was written is told: what the server refused, or the end of a term cut off, still has to be. */
  #settled(recorder: EventRecorder, digest: string, isWritten: boolean): void {
    if (recorder !== this.#recorder || this.#told === undefined) return;
    this.#queued.delete(digest);
    if (!this.#isStanding(digest)) return;
    if (isWritten) {
      this.#told.add(digest);
      this.#parts.memory?.keep(latest(this.#told));
    } else {
      this.#refusals.add(digest);
      this.#untold += 1;
      this.#measure();
    }
  }

  #isStanding(digest: string): boolean {
    return [this.#held, this.#problems, this.#planned].some((standing) => standing?.has(digest));
  }

  /** What holds no more is news when it comes again; before the first release is written nobody knows what does. */
  #forget(): void {
    if (this.#planned === undefined || this.#problems === undefined) return;
    for (const digest of this.#told ?? []) if (!this.#isStanding(digest)) this.#told?.delete(digest);
  }

  #measure(): void {
    this.#parts.meter.gauge(WAITING, this.#waiting.size + this.#untold);
  }
}

function byDigest(occurrences: readonly Occurrence[]): Standing {
  return new Map(occurrences.map((occurrence) => [digestOf(occurrence), occurrence]));
}

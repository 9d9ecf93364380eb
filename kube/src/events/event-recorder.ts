import { Cancelled, Retry, type Clock, type Log, type Meter, type ObjectRef } from '@haptic/core/contract';
import type { KubeApi } from '../api.ts';
import { ApiError, isApiError } from '../api-error.ts';
import { endsItsNamespace } from '../refusal.ts';
import { Backoff } from '../backoff.ts';
import { microTime } from '../micro-time.ts';
import { applyObject } from '../objects.ts';
import { countDropped } from './dropped-events.ts';
import {
  eventFields,
  eventName,
  eventNamespace,
  eventResource,
  seriesKey,
  type Occurrence,
  type Reporter,
  type Series,
} from './event-object.ts';
import { TokenBucket, type Rate } from './token-bucket.ts';

export interface EventRecorderOptions {
  readonly api: KubeApi;
  readonly reporter: Reporter;
  readonly fieldManager: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly meter: Meter;
  readonly random?: () => number;
  /** For one object. */
  readonly rate?: Rate;
}

/** Repetitions within this are one Event that counts; then a new one begins. Milliseconds. */
const SERIES_LENGTH = 600_000;
/** A repetition is written at most this often. Milliseconds. */
const SERIES_PAUSE = 60_000;
/** Different Events that are kept in mind. */
const MOST_SERIES = 1_000;
const IDLE_PAUSE = 1_000;
/** Then an Event that is forbidden is let go: after half a minute. */
const MOST_REFUSALS = 4;
/** Twice as long after each. Milliseconds. */
const REFUSAL_PAUSE = 1_000;

/** A busy server, or none: the same request may succeed later. */
function isPassing(error: unknown): boolean {
  return error instanceof Retry || (error instanceof ApiError && (error.code === 429 || error.code >= 500));
}

/** Called once: whether it was written, or let go. Never when the recorder ends before. */
export type Settled = (isWritten: boolean) => void;

interface Entry {
  series: Series;
  /** Who wants to know what becomes of it. */
  readonly settled: Settled[];
  readonly begun: number;
  /** When it may be written next; undefined when all of it is written. */
  due: number | undefined;
  writtenAt: number;
  refusals: number;
}

/** Writes Events beside the work: recording never waits, never fails, and never floods the API server. */
export class EventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #rate: Rate;
  readonly #entries = new Map<string, Entry>();
  readonly #buckets = new Map<string, TokenBucket>();
  readonly #backoff: Backoff;
  /** Namespaces in which the server refuses Events: said once, until one is written. */
  readonly #forbidden = new Set<string>();
  #serial = 0;
  #wake = new AbortController();

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    this.#rate = options.rate ?? { burst: 10, every: 60_000 };
    this.#backoff = new Backoff({ first: 500, most: 30_000, random: options.random ?? Math.random });
  }

  /** Whether it was taken; not when the limits say that it is too much now: it may be recorded later. */
  record(occurrence: Occurrence, settled?: Settled): boolean {
    const { clock } = this.#options;
    const key = seriesKey(occurrence);
    const time = microTime(clock.wall(), (this.#serial += 1));
    const known = this.#entries.get(key);
    if (known !== undefined && clock.now() - known.begun < SERIES_LENGTH) {
      known.series = { ...known.series, lastTime: time, count: known.series.count + 1 };
      known.due ??= known.writtenAt + SERIES_PAUSE;
      if (settled !== undefined) known.settled.push(settled);
    } else if (this.#mayBegin(occurrence.regarding)) {
      const series = { occurrence, eventTime: time, lastTime: time, count: 1 };
      const now = clock.now();
      // One that could not be written in all that time is told with this one.
      const all = known?.settled ?? [];
      if (settled !== undefined) all.push(settled);
      this.#entries.delete(key);
      this.#entries.set(key, { series, settled: all, begun: now, due: now, writtenAt: 0, refusals: 0 });
    } else {
      return false;
    }
    this.#wake.abort();
    return true;
  }

  /** Writes until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    while (!signal.aborted) {
      this.#wake = new AbortController();
      const wait = await this.#writeDue(signal);
      // New occurrences end an idle pause, but not one that a server in trouble is owed.
      const ends = wait === undefined ? AbortSignal.any([signal, this.#wake.signal]) : signal;
      await clock.sleep(wait ?? IDLE_PAUSE, ends).catch(() => undefined);
    }
  }

  #mayBegin(regarding: ObjectRef): boolean {
    this.#forget();
    if (this.#entries.size >= MOST_SERIES) return false;
    const key = `${regarding.kind}/${regarding.namespace}/${regarding.name}`;
    const bucket = this.#buckets.get(key) ?? new TokenBucket(this.#rate, this.#options.clock);
    this.#buckets.set(key, bucket);
    return bucket.take();
  }

  #forget(): void {
    const now = this.#options.clock.now();
    for (const [key, { begun, due }] of this.#entries) {
      if (due === undefined && now - begun >= SERIES_LENGTH) this.#entries.delete(key);
    }
    if (this.#buckets.size < MOST_SERIES) return;
    for (const [key, bucket] of this.#buckets) if (bucket.full) this.#buckets.delete(key);
  }

  /** Milliseconds to leave the server alone, after a failure. */
  async #writeDue(signal: AbortSignal): Promise<number | undefined> {
    const { clock } = this.#options;
    for (const [key, entry] of this.#entries) {
      if (entry.due === undefined || entry.due > clock.now()) continue;
      try {
        await this.#write(entry, signal);
        this.#backoff.reset();
      } catch (error) {
        if (error instanceof Cancelled) return undefined;
        if (isPassing(error)) return this.#backoff.next(error);
        this.#refused(key, entry, error);
      }
    }
    return undefined;
  }

  async #write(entry: Entry, signal: AbortSignal): Promise<void> {
    const { api, clock, fieldManager, reporter } = this.#options;
    const { series, settled } = entry;
    const count = settled.length;
    const key = {
      resource: eventResource,
      namespace: eventNamespace(series.occurrence),
      name: eventName(series, reporter),
    };
    await applyObject(api, key, eventFields(series, reporter), { fieldManager, force: true, signal });
    entry.writtenAt = clock.now();
    // It may have happened again while the request was on its way.
    entry.due = entry.series.count > series.count ? entry.writtenAt + SERIES_PAUSE : undefined;
    this.#forbidden.delete(key.namespace);
    for (const tell of settled.splice(0, count)) tell(true);
  }

  /** Events are a courtesy: one that the server does not take (its namespace ends, no permission) is let go. */
  #refused(key: string, entry: Entry, error: unknown): void {
    // A server that has just started does not know the permissions yet, and refuses everybody.
    if (isApiError(error, 403) && entry.refusals < MOST_REFUSALS) {
      entry.refusals += 1;
      entry.due = this.#options.clock.now() + REFUSAL_PAUSE * 2 ** entry.refusals;
      return;
    }
    this.#entries.delete(key);
    // Who is told may record it again.
    if (entry.settled.length === 0) countDropped(this.#options.meter, 'refused');
    this.#complain(eventNamespace(entry.series.occurrence), error);
    for (const tell of entry.settled.splice(0)) tell(false);
  }

  #complain(namespace: string, error: unknown): void {
    const isForbidden = isApiError(error, 403) && !endsItsNamespace(error);
    const isKnown = isForbidden && this.#forbidden.has(namespace);
    if (isForbidden) this.#forbidden.add(namespace);
    const isExpected = isKnown || isApiError(error, 404) || endsItsNamespace(error);
    this.#options.log[isExpected ? 'debug' : 'warn']({ err: error, namespace }, 'an Event was refused');
  }
}

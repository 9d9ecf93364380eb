import { type Clock, type Log, type Term } from '@haptic/core/contract';
import { Backoff, refusalOf } from '@haptic/kube';
import { Complaints } from './complaints.ts';
import { isUnanswered } from './later.ts';

/** What one pass may do. */
export interface Pass {
  /** Aborts when the term or the process ends: nothing may be written any more. */
  readonly signal: AbortSignal;
  /** Identifies the term: with another one, what is known of the last one may be out of date. */
  readonly term: AbortSignal;
  /** Look at everything, also at what was right the last time. */
  readonly thorough: boolean;
  /** What a former leader sent, or we without an answer, may still be carried out: nothing of ours is forgotten yet. */
  readonly mayBeLate: boolean;
  /** When there is something to look at although nobody tells of it; by the clock. */
  readonly lookAgainAt: (time: number) => void;
}

export interface WriterParts<T> {
  /** What is written, for logs. */
  readonly what: string;
  readonly term: () => Term;
  readonly clock: Clock;
  readonly log: Log;
  /** Makes it so. What throws is tried again, later and later. */
  readonly write: (desired: T, pass: Pass) => Promise<void>;
  /** At most one pass in so many milliseconds. */
  readonly pace?: (desired: T) => number;
  /** What is desired stems from a term, and is nobody's when it ends. */
  readonly ofTerm: boolean;
}

/** Others may have changed what was written: it is looked at again after this time. Milliseconds. */
const RESYNC_MS = 600_000;
/** A request that is longer on its way is carried out no more: twice what an API server gives one. Milliseconds. */
const LATE_MS = 120_000;
const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 60_000;
const FOREVER_MS = 2 ** 31 - 1;

/**
 * One loop for one kind of output: always the newest desired state, only in a term, never two passes at once. Whoever desires something
 * waits for nothing.
 */
export class Writer<T> {
  readonly #parts: WriterParts<T>;
  readonly #complaints: Complaints;
  readonly #backoff = new Backoff({
    first: FIRST_RETRY_MS,
    most: LONGEST_RETRY_MS,
    random: Math.random,
  });
  #desired: { readonly value: T } | undefined;
  /** What the last pass was refused until rights or credentials are others. */
  #refusal: string | undefined;
  #dirty = false;
  #thorough = true;
  /** When to look at everything, and when at what the last pass could not settle. */
  #resyncAt = Infinity;
  #lookAgainAt = Infinity;
  /** Until when something may be carried out that we do not know of. */
  #lateUntil: number;
  #wake = new AbortController();

  constructor(parts: WriterParts<T>) {
    this.#parts = parts;
    this.#complaints = new Complaints(parts.log);
    this.#lateUntil = parts.clock.now() + LATE_MS;
  }

  get refusal(): string | undefined {
    return this.#refusal;
  }

  want(value: T): void {
    this.#desired = { value };
    this.touch();
  }

  /** Something that goes into the output, besides what is desired, is another one. */
  touch(): void {
    this.#dirty = true;
    this.#wake.abort();
  }

  /** A term has begun or ended. */
  termChanged(): void {
    if (this.#parts.ofTerm) this.#desired = undefined;
    this.#thorough = true;
    this.#refusal = undefined;
    this.#lateUntil = this.#parts.clock.now() + LATE_MS;
    this.touch();
  }

  /** Until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const term = this.#parts.term();
      if (this.#desired === undefined || !term.leader) await this.#wait(FOREVER_MS, signal);
      else if (this.#dirty) await this.#pass(this.#desired.value, term.signal, signal);
      else await this.#waitForTime(signal);
    }
  }

  async #pass(desired: T, term: AbortSignal, stop: AbortSignal): Promise<void> {
    const { what, clock, write, pace } = this.#parts;
    const signal = AbortSignal.any([term, stop]);
    const thorough = this.#thorough || clock.now() >= this.#resyncAt;
    this.#dirty = false;
    this.#thorough = false;
    const mayBeLate = clock.now() < this.#lateUntil;
    if (thorough) this.#resyncAt = mayBeLate ? this.#lateUntil : clock.now() + RESYNC_MS;
    this.#lookAgainAt = Infinity;
    const lookAgainAt = (time: number): void => {
      this.#lookAgainAt = Math.min(this.#lookAgainAt, time);
    };
    let pause = pace?.(desired) ?? 0;
    try {
      await write(desired, { signal, term, thorough, mayBeLate, lookAgainAt });
      this.#backoff.reset();
      this.#refusal = undefined;
      this.#complaints.settled(what);
    } catch (error) {
      this.#dirty = true;
      this.#thorough ||= thorough;
      if (signal.aborted) return;
      if (isUnanswered(error)) this.#expectLate();
      this.#refusal = refusalOf(error)?.message;
      this.#complaints.complain(what, error, 'could not be published, it is tried again');
      pause = Math.max(pause, this.#backoff.next(error));
    }
    if (pause > 0) await clock.sleep(pause, signal).catch(() => undefined);
  }

  #expectLate(): void {
    this.#lateUntil = this.#parts.clock.now() + LATE_MS;
    this.#resyncAt = Math.min(this.#resyncAt, this.#lateUntil);
  }

  async #waitForTime(signal: AbortSignal): Promise<void> {
    const { clock } = this.#parts;
    const next = Math.min(this.#resyncAt, this.#lookAgainAt);
    if (!(await this.#wait(Math.max(0, next - clock.now()), signal))) return;
    this.#dirty = true;
  }

  /** True when the time is over, false when there is something to look at. */
  async #wait(ms: number, signal: AbortSignal): Promise<boolean> {
    const wake = new AbortController();
    this.#wake = wake;
    await this.#parts.clock.sleep(ms, AbortSignal.any([signal, wake.signal])).catch(() => undefined);
    return !wake.signal.aborted && !signal.aborted;
  }
}

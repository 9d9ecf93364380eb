import {
  Cancelled,
  NO_CONTENTS,
  Retry,
  type Clock,
  type ContentRequest,
  type Contents,
  type ContentSource,
  type Rendered,
} from '../contract/index.ts';
import { DeadlineExceeded, withDeadline } from '../host/deadline.ts';
import type { Evaluation } from '../pipeline/index.ts';
import { RenderAwaitsContent, RenderError } from '../templates/errors.ts';
import { verdictError } from './verdict-error.ts';

/** Renders over the live view with these contents and has everybody judge, synchronously. */
export type Evaluate = (contents: Contents) => Promise<Evaluation>;

/** A complete pass with the contents that it was about. */
export interface Passed {
  readonly evaluation: Evaluation;
  readonly contents: Contents;
}

/** What became of pending contents. */
export type Promoted =
  /** Nothing is pending any more: nothing was, or all of it was refused. */
  | { readonly kind: 'nothing' }
  /** Some are accepted, and this is the render with them: everybody has judged it. */
  | ({ readonly kind: 'accepted' } & Passed)
  /** Nobody can say now whether they are good; they stay pending. */
  | { readonly kind: 'undecided'; readonly reason: Error };

/** The configuration that asks: one serves, another may wait for its first contents. */
export type Asking = 'serving' | 'candidate';

/** Rounds of finding out, for a first render, what its templates ask for once they have what they asked for before. */
const MOST_ROUNDS = 8;

/** While a configuration serves its work must not wait long for what another one wants. */
const LIVE_PATIENCE_MS = 2_000;

type Attempt = ({ readonly kind: 'passed' } & Passed) | { readonly kind: 'failed'; readonly error: Error };

async function attempt(evaluate: Evaluate, contents: Contents): Promise<Attempt> {
  try {
    const evaluation = await evaluate(contents);
    const { verdict } = evaluation;
    if (verdict.kind === 'passed') return { kind: 'passed', evaluation, contents };
    return { kind: 'failed', error: verdictError(verdict) };
  } catch (error) {
    if (error instanceof Cancelled || !(error instanceof Error)) throw error;
    return { kind: 'failed', error };
  }
}

/** Of a render that was refused, or of the error that ended it. */
function requestsOf(failed: unknown): readonly ContentRequest[] {
  if (failed instanceof RenderError || failed instanceof RenderAwaitsContent) return failed.requests;
  return (failed as Partial<Rendered>).requests ?? [];
}

function laidOver(below: Contents, above: Iterable<readonly [string, string]>): Contents {
  return new Map([...below, ...above]);
}

/**
 * The core's side of contents from outside: what renders read, whom we fetch for, and how what is pending becomes accepted, which
 * is by a complete synchronous validation and in no other way. Without a source of contents there are none.
 */
export class Promotion {
  readonly #source: ContentSource | undefined;
  readonly #clock: Clock;
  readonly #asked: Record<Asking, readonly ContentRequest[]> = { serving: [], candidate: [] };
  readonly #listeners = new Set<() => void>();
  #wanted = '[]';
  #isServing = false;
  /** Texts that a synchronous pass has used, by key. */
  #proven: Contents = NO_CONTENTS;

  constructor(source: ContentSource | undefined, clock: Clock) {
    this.#source = source;
    this.#clock = clock;
  }

  /** What renders read. */
  get contents(): Contents {
    return this.#source?.accepted() ?? NO_CONTENTS;
  }

  onPending(listener: () => void): () => void {
    this.#listeners.add(listener);
    const stop = this.#source?.onPending(listener);
    return () => {
      this.#listeners.delete(listener);
      stop?.();
    };
  }

  /** What a whole render asked for: that, and nothing else, is wanted from now on. */
  asks(who: Asking, { requests = [] }: Pick<Rendered, 'requests'>): void {
    this.#want(who, requests);
  }

  /** A render that failed got only so far, or is not to be followed: what was wanted before still is. */
  asksAsWell(who: Asking, failed: unknown): void {
    const requests = requestsOf(failed);
    if (requests.length === 0) return;
    const known = this.#asked[who].filter(({ key }) => !requests.some((request) => request.key === key));
    this.#want(who, [...known, ...requests]);
  }

  /** Whether a render uses a content that no synchronous pass has used: then it must be judged before anybody gets it. */
  isUnproven({ requests = [] }: Pick<Rendered, 'requests'>, contents: Contents = NO_CONTENTS): boolean {
    return requests.some(({ key }) => contents.has(key) && contents.get(key) !== this.#proven.get(key));
  }

  /**
   * A configuration serves that was judged with these: the pending ones among them are accepted, and what was refused has another
   * chance. What renders read from now on.
   */
  adopt({ rendered }: Pick<Evaluation, 'rendered'>, contents: Contents = NO_CONTENTS): Contents {
    this.#isServing = true;
    this.#source?.accept(contents);
    this.#asked.candidate = [];
    this.passed(rendered, contents);
    this.#source?.reconsider();
    return this.contents;
  }

  /** No configuration waits any more. */
  dropCandidate(): void {
    this.#want('candidate', []);
  }

  /**
   * The synchronous pass of a configuration that does not serve yet, with what is pending where nothing was ever accepted. It
   * waits for the first attempt to get what its templates ask for, so that a start does not go out without what is there a moment later.
   *
   * @throws what the last evaluation threw
   * @throws Cancelled when it is called off: then it asks for nothing any more.
   */
  async first(evaluate: Evaluate, signal: AbortSignal): Promise<Passed> {
    const awaited = new Set<string>();
    for (let round = 1; ; round++) {
      const contents = this.#firstContents();
      const outcome = await evaluate(contents).then(
        (evaluation) => ({ evaluation }),
        (error: unknown) => ({ error }),
      );
      if (signal.aborted)
        throw new Cancelled('the configuration is no longer wanted', { cause: signal.reason });
      if ('evaluation' in outcome) this.asks('candidate', outcome.evaluation.rendered);
      else this.asksAsWell('candidate', outcome.error);
      const missing = this.#asked.candidate
        .map(({ key }) => key)
        .filter((key) => !contents.has(key) && !awaited.has(key));
      if (missing.length > 0 && round < MOST_ROUNDS) {
        for (const key of missing) awaited.add(key);
        await this.#attempted(missing, signal);
        const found = this.#firstContents();
        if (missing.some((key) => found.has(key))) continue;
      }
      if ('error' in outcome) throw outcome.error;
      return { ...outcome, contents };
    }
  }

  /**
   * Judges what is pending: all of it at once and, where that fails although the same render passes without, one by one, so that
   * one bad content keeps no other back.
   *
   * @throws Cancelled
   */
  async promote(evaluate: Evaluate): Promise<Promoted> {
    const source = this.#source;
    const pending = this.#pending();
    if (source === undefined || pending.size === 0) return { kind: 'nothing' };
    const whole = await attempt(evaluate, laidOver(source.accepted(), pending));
    if (whole.kind === 'passed') return this.#accepted(whole);
    if (whole.error instanceof Retry) return { kind: 'undecided', reason: whole.error };
    const without = await attempt(evaluate, source.accepted());
    // Then it may be an object, or the judge: a content is not to blame for that.
    if (without.kind === 'failed') {
      const { error } = without;
      return { kind: 'undecided', reason: error instanceof RenderAwaitsContent ? whole.error : error };
    }
    if (pending.size > 1) return await this.#oneByOne(source, evaluate, pending);
    source.refuse(pending, whole.error);
    return { kind: 'nothing' };
  }

  async #attempted(keys: readonly string[], signal: AbortSignal): Promise<void> {
    const source = this.#source;
    if (source === undefined) return;
    const ms = this.#isServing ? LIVE_PATIENCE_MS : Infinity;
    try {
      await withDeadline((ended) => source.attempted(keys, ended), { ms, signal, clock: this.#clock });
    } catch (error) {
      if (!(error instanceof DeadlineExceeded)) throw error;
    }
  }

  /** Of what the serving configuration uses: for others its pass would say nothing. */
  #pending(): Contents {
    const keys = new Set(this.#asked.serving.map(({ key }) => key));
    return new Map([...(this.#source?.pending() ?? [])].filter(([key]) => keys.has(key)));
  }

  /** What is pending only where nothing was ever accepted. */
  #firstContents(): Contents {
    return laidOver(this.#source?.pending() ?? NO_CONTENTS, this.contents);
  }

  async #oneByOne(source: ContentSource, evaluate: Evaluate, pending: Contents): Promise<Promoted> {
    let last: Passed | undefined;
    for (const single of pending) {
      const next = await attempt(evaluate, laidOver(last?.contents ?? source.accepted(), [single]));
      if (next.kind === 'passed') last = next;
      else if (next.error instanceof Retry) return { kind: 'undecided', reason: next.error };
      else source.refuse(new Map([single]), next.error);
    }
    return last === undefined ? { kind: 'nothing' } : this.#accepted(last);
  }

  #accepted({ evaluation, contents }: Passed): Promoted {
    this.#source?.accept(contents);
    this.passed(evaluation.rendered, contents);
    return { kind: 'accepted', evaluation, contents: this.contents };
  }

  /** Everybody has judged, synchronously and with success, a render of the serving configuration with these. */
  passed(rendered: Pick<Rendered, 'requests'>, contents: Contents = NO_CONTENTS): void {
    const used = (rendered.requests ?? []).flatMap(({ key }) => {
      const text = contents.get(key);
      return text === undefined ? [] : [[key, text] as const];
    });
    const known = [...this.#proven].filter(([key]) => contents.has(key));
    this.#proven = new Map([...known, ...used]);
    this.asks('serving', rendered);
  }

  #want(who: Asking, requests: readonly ContentRequest[]): void {
    const before = new Set(this.#asked[who].map(({ key }) => key));
    this.#asked[who] = requests;
    this.#tellSource();
    if (who === 'serving') this.#tellOf(requests.filter(({ key }) => !before.has(key)));
  }

  /** What only a configuration that waits had asked for is pending already, and no news to its source. */
  #tellOf(requests: readonly ContentRequest[]): void {
    if (requests.length === 0) return;
    const pending = this.#source?.pending();
    if (requests.some(({ key }) => pending?.has(key) === true))
      for (const listener of this.#listeners) listener();
  }

  #tellSource(): void {
    const { serving, candidate } = this.#asked;
    // Of two opinions on one content the serving configuration's counts.
    const all = new Map([...candidate, ...serving].map((request) => [request.key, request]));
    const text = JSON.stringify(Array.from(all.values(), ({ key, options }) => [key, options]));
    if (text === this.#wanted) return;
    this.#wanted = text;
    this.#source?.want([...all.values()]);
  }
}

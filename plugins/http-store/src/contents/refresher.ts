import { Cancelled, type Clock, type Log, type Meter } from '@haptic/core/contract';
import type { How } from '../fetch-options.ts';
import { fetchDuration, fetchTotal, type FetchResult } from '../metrics.ts';
import { FetchFailure } from '../network/failure.ts';
import type { Fetcher, Validators } from '../network/fetcher.ts';
import { redacted } from '../network/url.ts';
import { refreshDelay, retryDelay, type Random } from '../schedule.ts';
import type { ContentState } from './content-state.ts';

export interface RefresherParts {
  readonly fetcher: Fetcher;
  readonly clock: Clock;
  readonly log: Log;
  readonly meter: Meter;
  readonly random: Random;
}

/** Keeps the content of one URL up to date until it is stopped. */
export class Refresher {
  readonly state: ContentState;
  readonly how: How;
  /** Resolves after the first attempt, however it ended. */
  readonly attempted: Promise<void>;
  readonly #url: URL;
  readonly #parts: RefresherParts;
  readonly #onPending: () => void;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  #validators: Validators | undefined;
  #hasFetched = false;
  #failures = 0;
  #problem: string | undefined;

  constructor(key: string, how: How, state: ContentState, onPending: () => void, parts: RefresherParts) {
    this.#url = new URL(key);
    this.how = how;
    this.state = state;
    this.#onPending = onPending;
    this.#parts = parts;
    const first = Promise.withResolvers<void>();
    this.attempted = first.promise;
    this.#running = this.#run(first.resolve).finally(first.resolve);
  }

  /** Why the last attempt brought nothing. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Resolves when nothing runs any more. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(attempted: () => void): Promise<void> {
    const { signal } = this.#stop;
    const { clock } = this.#parts;
    try {
      for (;;) {
        const delay = await this.#attempt();
        attempted();
        await clock.sleep(delay, signal);
      }
    } catch (error) {
      if (!signal.aborted && !(error instanceof Cancelled)) {
        this.#problem = 'is no longer refreshed after a bug';
        this.#parts.log.error({ err: error, url: redacted(this.#url) }, 'a content is no longer refreshed');
      }
    }
  }

  /** Milliseconds until the next one. */
  async #attempt(): Promise<number> {
    const { clock, random } = this.#parts;
    const { signal } = this.#stop;
    const { intervalMs, timeoutMs, maxSize } = this.how;
    const limits = { timeoutMs, maxSize };
    const start = clock.now();
    try {
      const fetched = await this.#parts.fetcher.fetch(this.#url, limits, this.#validators, signal);
      if (fetched.kind === 'content') this.#validators = fetched.validators;
      const changed = fetched.kind === 'content' && this.state.fetched(fetched.text);
      this.#measure(changed ? 'changed' : 'unchanged', start);
      this.#succeeded();
      // At first also where it is as before: it may have been wanted by nobody for a while, and was not judged then.
      const isNews = changed || !this.#hasFetched;
      this.#hasFetched = true;
      if (isNews && this.state.pending !== undefined) this.#onPending();
      return refreshDelay(intervalMs, random);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof FetchFailure)) throw error;
      this.#measure(error.forbidden ? 'forbidden' : 'failed', start);
      this.#failed(error);
      return retryDelay(error, this.#failures, intervalMs, random);
    }
  }

  #measure(result: FetchResult, start: number): void {
    const { meter, clock } = this.#parts;
    meter.count(fetchTotal, { result });
    meter.observe(fetchDuration, (clock.now() - start) / 1_000, { result });
  }

  #succeeded(): void {
    if (this.#failures > 0)
      this.#parts.log.info({ url: redacted(this.#url) }, 'a content can be fetched again');
    this.#failures = 0;
    this.#problem = undefined;
  }

  /** The same failure again and again is told once. */
  #failed({ message }: FetchFailure): void {
    this.#failures++;
    const { log } = this.#parts;
    const fields = { url: redacted(this.#url), why: message, failures: this.#failures };
    if (message === this.#problem) log.debug(fields, 'a content could not be fetched');
    else log.warn(fields, 'a content could not be fetched');
    this.#problem = message;
  }
}

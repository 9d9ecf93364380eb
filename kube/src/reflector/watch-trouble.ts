import { Outage, Retry, type Clock, type Log } from '@haptic/core/contract';
import { ApiError, isApiError } from '../api-error.ts';
import { refusalOf } from '../refusal.ts';

/** A watch that lasted this long was no failure of the server's, whatever ended it. Milliseconds. */
export const STABLE = 5_000;

export interface WatchTroubleParts {
  readonly path: string;
  readonly clock: Clock;
  readonly log: Log;
}

/** What is said of a watch that fails: a line when it begins, one when it is over, and why, for whoever asks in between. */
export class WatchTrouble {
  readonly #parts: WatchTroubleParts;
  readonly #outage: Outage;
  #refusal: ApiError | undefined;

  constructor(parts: WatchTroubleParts) {
    this.#parts = parts;
    this.#outage = new Outage(parts.clock);
  }

  /** What somebody has to mend, rights or credentials: until then the same request is refused. */
  get refusal(): ApiError | undefined {
    return this.#refusal;
  }

  failed(error: unknown, figures: { readonly failures: number; readonly waitMs: number }): void {
    const { log, path } = this.#parts;
    const refusal = refusalOf(error);
    if (refusal !== undefined) this.#refusal = refusal;
    else if (isApiError(error, 404)) this.#refusal = undefined;
    if (!isExpected(error)) {
      log.error({ path, error, ...figures }, 'the watch failed by a fault of ours');
      return;
    }
    const fields = { path, error: error.message, ...figures };
    // A broken connection is everyday; what a person must mend shows at the second try.
    const isEveryday = figures.failures < 2 || isApiError(error, 404);
    if (isEveryday || !this.#outage.isNews(reasonOf(error))) log.debug(fields, 'the watch goes on');
    else log.warn(fields, 'the watch fails repeatedly');
  }

  /** @param signal Aborts when the watch ends. */
  opened(signal: AbortSignal): void {
    this.#refusal = undefined;
    if (!this.#outage.isTold) return;
    // One that is cut off at once has not begun to work.
    this.#parts.clock.sleep(STABLE, signal).then(
      () => this.works(),
      () => undefined,
    );
  }

  works(): void {
    const forMs = this.#outage.end();
    if (forMs === undefined) return;
    const { log, path } = this.#parts;
    log.info({ path, forMs: Math.round(forMs) }, 'the watch works again');
  }
}

/** Servers and networks fail like this; anything else is our own doing. */
function isExpected(error: unknown): error is Error {
  return error instanceof Retry || error instanceof ApiError || error instanceof SyntaxError;
}

function reasonOf(error: Error): string {
  return error instanceof ApiError ? String(error.code) : error.name;
}

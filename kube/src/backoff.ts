import { apiErrorOf } from './api-error.ts';

export interface BackoffOptions {
  /** Milliseconds. */
  readonly first: number;
  readonly most: number;
  /** 0 ≤ x < 1. */
  readonly random: () => number;
}

/** Nobody is left alone for longer, whatever a server or a proxy asks for: it may be back long before. Milliseconds. */
const LONGEST_RETRY_AFTER = 300_000;

/**
 * Full jitter: the bound doubles with each failure and the wait is anywhere below it, so that clients which failed together do
 * not come back together. A server's `Retry-After` is obeyed and the jitter comes on top.
 */
export class Backoff {
  readonly #options: BackoffOptions;
  #failures = 0;

  constructor(options: BackoffOptions) {
    this.#options = options;
  }

  get failures(): number {
    return this.#failures;
  }

  /** Milliseconds to wait after this failure. */
  next(error?: unknown): number {
    const { first, most, random } = this.#options;
    const bound = Math.min(most, first * 2 ** Math.min(this.#failures, 30));
    this.#failures += 1;
    const asked = Math.min(apiErrorOf(error)?.retryAfter ?? 0, LONGEST_RETRY_AFTER);
    return asked + bound * random();
  }

  reset(): void {
    this.#failures = 0;
  }
}

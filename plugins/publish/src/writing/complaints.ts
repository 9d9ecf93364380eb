import { Retry, type Log } from '@haptic/core/contract';
import { isApiError } from '@haptic/kube';

/** A busy server, none, or somebody who wrote in between: the same may succeed soon. */
export function isPassing(error: unknown): boolean {
  if (error instanceof Retry) return true;
  const code = (error as { readonly code?: unknown } | null)?.code;
  return typeof code === 'number' && (code === 409 || code === 429 || code >= 500);
}

/** Says once what goes wrong again and again, until it is something else or goes right. */
export class Complaints {
  readonly #log: Log;
  readonly #said = new Map<string, string>();

  constructor(log: Log) {
    this.#log = log;
  }

  /**
   * @param about What it is about.
   * @param sentence A constant one, for logs.
   */
  complain(about: string, error: unknown, sentence: string): void {
    const text = error instanceof Error ? error.message : String(error);
    // The words of a conflict name a version that is another one each time.
    const key = isApiError(error, 409) ? 'conflict' : text;
    if (this.#said.get(about) === key) return;
    this.#said.set(about, key);
    this.#log[isPassing(error) ? 'warn' : 'error']({ err: error, object: about }, sentence);
  }

  settled(about: string): void {
    this.#said.delete(about);
  }
}

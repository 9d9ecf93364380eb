import { Cancelled, Outage, Retry, type Clock, type Log, type StateStore } from '../contract/index.ts';
import { withDeadline } from '../host/deadline.ts';

const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 60_000;

function retryIn(failures: number): number {
  return Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(failures - 1, 16));
}

export interface KeptDocumentParts {
  readonly name: string;
  /** Undefined: nothing is kept. */
  readonly store: StateStore | undefined;
  readonly clock: Clock;
  readonly log: Log;
  /** Changes that come within so many milliseconds are written together. */
  readonly quietMs: number;
}

/**
 * One document of the state store. Written behind whoever changes it, always the newest state, until it is there: a store that cannot
 * be reached holds up nothing but itself.
 */
export class KeptDocument {
  readonly #parts: KeptDocumentParts;
  readonly #closing = new AbortController();
  readonly #outage: Outage;
  #wanted: (() => string) | undefined;
  #writing: Promise<void> | undefined;
  #unread: Error | undefined;

  constructor(parts: KeptDocumentParts) {
    this.#parts = parts;
    this.#outage = new Outage(parts.clock);
  }

  /** Why somebody waits for what was kept. */
  get unread(): Error | undefined {
    return this.#unread;
  }

  /** What was kept; tries until the store answers. @throws Cancelled */
  async read(signal: AbortSignal): Promise<string | undefined> {
    const { store } = this.#parts;
    if (store === undefined) return undefined;
    try {
      return await this.#readFrom(store, signal);
    } finally {
      this.#unread = undefined;
    }
  }

  async #readFrom(store: StateStore, signal: AbortSignal): Promise<string | undefined> {
    const { name, clock } = this.#parts;
    for (let failures = 1; ; failures++) {
      try {
        const text = await withDeadline(() => store.read(name), { ms: Infinity, signal, clock });
        this.#works();
        return text;
      } catch (error) {
        if (signal.aborted) throw new Cancelled('the state is no longer wanted', { cause: error });
        const words = error instanceof Error ? error.message : String(error);
        this.#unread = new Retry(`kept state cannot be read: ${words}`, { cause: error });
        this.#failed(error, 'kept state cannot be read, it is tried again');
        await clock.sleep(retryIn(failures), signal);
      }
    }
  }

  /** @param text Called when it is written, so that it says what is so then. */
  put(text: () => string): void {
    if (this.#parts.store === undefined || this.#closing.signal.aborted) return;
    this.#wanted = text;
    this.#writing ??= this.#writeSoon();
  }

  /** Writes what is not written yet, once. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#writing;
    const { store, name, log } = this.#parts;
    const text = this.#wanted;
    this.#wanted = undefined;
    if (store === undefined || text === undefined) return;
    await store.write(name, text()).catch((error: unknown) => {
      log.error({ err: error, document: name }, 'state could not be kept');
    });
  }

  async #writeSoon(): Promise<void> {
    const { clock, quietMs } = this.#parts;
    const { signal } = this.#closing;
    try {
      if (quietMs > 0) await clock.sleep(quietMs, signal);
      for (let failures = 0; this.#wanted !== undefined && !signal.aborted;) {
        const isWritten = await this.#write(this.#wanted);
        failures = isWritten ? 0 : failures + 1;
        if (!isWritten) await clock.sleep(retryIn(failures), signal);
      }
    } catch (error) {
      if (!(error instanceof Cancelled)) throw error;
    } finally {
      // In the same turn as the last look at what is wanted: a change right after it begins anew.
      this.#writing = undefined;
    }
  }

  async #write(text: () => string): Promise<boolean> {
    const { store, name } = this.#parts;
    this.#wanted = undefined;
    try {
      await store!.write(name, text());
      this.#works();
      return true;
    } catch (error) {
      this.#wanted ??= text;
      this.#failed(error, 'state cannot be kept, it is tried again');
      return false;
    }
  }

  #failed(error: unknown, words: string): void {
    const { name, log } = this.#parts;
    const fields = { err: error, document: name };
    if (this.#outage.isNews(error instanceof Error ? error.name : '')) log.warn(fields, words);
    else log.debug(fields, words);
  }

  #works(): void {
    const forMs = this.#outage.end();
    if (forMs === undefined) return;
    const { name, log } = this.#parts;
    log.info({ document: name, forMs: Math.round(forMs) }, 'the store of the state answers again');
  }
}

import { Outage, type Clock, type Contents, type Log, type StateStore } from '@haptic/core/contract';
import { z } from 'zod';
import { digestOf } from './content-state.ts';

/** Name of the document. */
const DOCUMENT = 'http-contents';
/** Characters of all texts together; state is meant to be small. Larger contents are fetched anew after a restart. */
const LARGEST = 256 * 1024;

const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 60_000;

function retryIn(failures: number): number {
  return Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(failures - 1, 16));
}

/** How long the end of the process waits for a write. */
const PATIENCE_MS = 2_000;

const schema = z.strictObject({ version: z.literal(1), texts: z.record(z.string(), z.string()) });

/**
 * As many as there is room for, small ones first, then those that nobody has asked for yet. By digests of the URLs: these may hold
 * tokens.
 */
function documentOf(contents: Contents, unasked: ReadonlyMap<string, string>): string {
  const current = Array.from(contents, ([key, text]) => [digestOf(key), text] as const);
  const texts: Record<string, string> = {};
  let room = LARGEST;
  for (const [digest, text] of [...current.toSorted(([, a], [, b]) => a.length - b.length), ...unasked]) {
    room -= text.length;
    if (room < 0) break;
    texts[digest] = text;
  }
  return JSON.stringify({ version: 1, texts });
}

/** Accepted contents from one run to the next, so that a restart while a server is down loses nothing. */
export class KeptContents {
  readonly #store: StateStore | undefined;
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #outage: Outage;
  /** From then on nothing is tried again. */
  readonly #ending = new AbortController();
  readonly #closing = new AbortController();
  #texts = new Map<string, string>();
  #next: string | undefined;
  #written: string | undefined;
  #writing: Promise<void> | undefined;

  constructor(store: StateStore | undefined, log: Log, clock: Clock) {
    this.#store = store;
    this.#log = log;
    this.#clock = clock;
    this.#outage = new Outage(clock);
  }

  /** Of the last run. What can not be read is not there: it will be fetched. */
  async load(): Promise<void> {
    try {
      const text = await this.#store?.read(DOCUMENT);
      if (text === undefined) return;
      this.#texts = new Map(Object.entries(schema.parse(JSON.parse(text)).texts));
      this.#written = text;
    } catch (error) {
      this.#log.warn({ err: error }, 'the contents of the last run can not be read');
    }
  }

  /** What the last run accepted, once. */
  take(key: string): string | undefined {
    if (this.#texts.size === 0) return undefined;
    const digest = digestOf(key);
    const text = this.#texts.get(digest);
    this.#texts.delete(digest);
    return text;
  }

  keep(contents: Contents): void {
    if (this.#store === undefined) return;
    this.#next = documentOf(contents, this.#texts);
    this.#begin(this.#store);
  }

  /** Writes what is not written yet, once; a store that can not be reached is not waited for. */
  async close(): Promise<void> {
    const timer = setTimeout(() => this.#closing.abort(), PATIENCE_MS);
    this.#ending.abort();
    while (this.#writing !== undefined) await this.#writing;
    clearTimeout(timer);
  }

  #begin(store: StateStore): void {
    this.#writing ??= this.#write(store).finally(() => {
      this.#writing = undefined;
      // It changed just as the last write ended.
      if (this.#next !== undefined) this.#begin(store);
    });
  }

  /** Always the newest, until it is there. */
  async #write(store: StateStore): Promise<void> {
    for (let failures = 0; this.#next !== undefined;) {
      const document = this.#next;
      this.#next = undefined;
      if (document === this.#written || (await this.#isWritten(store, document))) {
        failures = 0;
        continue;
      }
      if (this.#ending.signal.aborted) continue;
      this.#next ??= document;
      // Called off at the end of the process, which tries once more.
      await this.#clock.sleep(retryIn(++failures), this.#ending.signal).catch(() => {});
    }
  }

  async #isWritten(store: StateStore, document: string): Promise<boolean> {
    try {
      await store.write(DOCUMENT, document, this.#closing.signal);
    } catch (error) {
      const words = 'accepted contents could not be kept for the next run';
      const isNews = this.#outage.isNews(error instanceof Error ? error.name : '');
      this.#log[isNews ? 'warn' : 'debug']({ err: error }, words);
      return false;
    }
    this.#written = document;
    const forMs = this.#outage.end();
    if (forMs !== undefined) this.#log.info({ forMs: Math.round(forMs) }, 'accepted contents are kept again');
    return true;
  }
}

import { Cancelled, Retry, type Clock, type Log, type StateStore, type Term } from '@haptic/core/contract';
import { Backoff } from '@haptic/kube';
import type { ConfigMapStore } from './config-map-store.ts';

export interface TermStoreParts {
  readonly store: Pick<ConfigMapStore, 'read' | 'replace' | 'forget'>;
  readonly term: () => Term;
  readonly clock: Clock;
  readonly log: Log;
}

interface Noted {
  readonly document: string;
  readonly signal: AbortSignal | undefined;
}

const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 60_000;

/**
 * Documents that only the leader writes. What others would write is noted: it counts as written, since it is the leader's to keep, and
 * is written when their own term begins, unless somebody has led and written meanwhile, who knows better.
 */
export class TermStore implements StateStore {
  readonly #parts: TermStoreParts;
  readonly #noted = new Map<string, Noted>();
  /** What each document was when this process read or wrote it last. */
  readonly #seen = new Map<string, string | undefined>();

  constructor(parts: TermStoreParts) {
    this.#parts = parts;
  }

  async read(name: string): Promise<string | undefined> {
    const noted = this.#noted.get(name);
    if (noted !== undefined) return noted.document;
    const document = await this.#parts.store.read(name);
    this.#seen.set(name, document);
    return document;
  }

  async write(name: string, document: string, signal?: AbortSignal): Promise<void> {
    if (isOver(signal)) throw new Cancelled('the document is no longer to be written');
    const term = this.#parts.term();
    if (!term.leader) {
      this.#noted.set(name, { document, signal });
      return;
    }
    this.#noted.delete(name);
    const limits = signal === undefined ? term.signal : AbortSignal.any([signal, term.signal]);
    try {
      await this.#parts.store.replace(name, () => document, limits);
    } catch (error) {
      if (isOver(signal) || !term.signal.aborted) throw error;
      // The term ended meanwhile: it is as if it had before.
      this.#noted.set(name, { document, signal });
      return;
    }
    this.#seen.set(name, document);
  }

  /** A term has begun or ended. Resolves when what was noted is written, or the term is over. */
  async termChanged(signal: AbortSignal): Promise<void> {
    const { term, clock, log } = this.#parts;
    const current = term();
    if (!current.leader) return;
    // Others led and wrote since: what equals our last word may not be theirs.
    this.#parts.store.forget();
    const backoff = new Backoff({ first: FIRST_RETRY_MS, most: LONGEST_RETRY_MS, random: Math.random });
    const limits = AbortSignal.any([signal, current.signal]);
    while (this.#noted.size > 0 && !limits.aborted) {
      try {
        for (const [name, noted] of this.#noted) await this.#writeNoted(name, noted, limits);
      } catch (error) {
        if (limits.aborted) return;
        log.warn({ err: error }, 'state of before the term cannot be kept, it is tried again');
        await clock.sleep(backoff.next(error), limits).catch(() => undefined);
      }
    }
  }

  async #writeNoted(name: string, noted: Noted, limits: AbortSignal): Promise<void> {
    if (!isOver(noted.signal)) {
      const known = this.#seen.has(name);
      const seen = this.#seen.get(name);
      await this.#parts.store.replace(
        name,
        (current) =>
          this.#noted.get(name) !== noted || (known && current !== seen) ? undefined : noted.document,
        limits,
      );
      if (limits.aborted) throw new Retry('the term ended');
    }
    if (this.#noted.get(name) === noted) this.#noted.delete(name);
  }
}

function isOver(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}

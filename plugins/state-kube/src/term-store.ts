import { randomBytes } from 'node:crypto';
import { Cancelled, Retry, type Clock, type Log, type StateStore, type Term } from '@haptic/core/contract';
import { Backoff } from '@haptic/kube';
import type { ConfigMapStore } from './config-map-store.ts';

export interface TermStoreParts {
  readonly store: Pick<ConfigMapStore, 'read' | 'replace' | 'begin'>;
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
const NOT_KEPT = 'state of before the term cannot be kept, it is tried again';

/**
 * Documents that only the leader writes. What others would write is noted: it counts as written, since it is the leader's to keep, and
 * is written when their own term begins, unless somebody has led and written meanwhile, who knows better.
 */
export class TermStore implements StateStore {
  readonly #parts: TermStoreParts;
  readonly #noted = new Map<string, Noted>();
  /** What each document was when this process read or wrote it last. */
  readonly #seen = new Map<string, string | undefined>();
  /** Of the term that it was entered for last. */
  #entered: AbortSignal | undefined;

  constructor(parts: TermStoreParts) {
    this.#parts = parts;
  }

  async read(name: string): Promise<string | undefined> {
    const term = this.#enter();
    const noted = this.#noted.get(name);
    if (noted !== undefined && !term.leader) return noted.document;
    const document = await this.#parts.store.read(name);
    if (noted !== undefined && this.#noted.get(name) === noted) {
      if (!this.#isOfOthers(name, document)) return noted.document;
      this.#noted.delete(name);
    }
    this.#seen.set(name, document);
    return document;
  }

  async write(name: string, document: string, signal?: AbortSignal): Promise<void> {
    if (isOver(signal)) throw new Cancelled('the document is no longer to be written');
    const term = this.#enter();
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
    const { clock, log } = this.#parts;
    const current = this.#enter();
    if (!current.leader) return;
    const backoff = new Backoff({ first: FIRST_RETRY_MS, most: LONGEST_RETRY_MS, random: Math.random });
    const limits = AbortSignal.any([signal, current.signal]);
    while (this.#noted.size > 0 && !limits.aborted) {
      const failures: unknown[] = [];
      for (const [name, noted] of this.#noted) {
        // One that is refused, since it is too large, keeps no other from being written.
        await this.#writeNoted(name, noted, limits).catch((error: unknown) => {
          failures.push(error);
          if (!limits.aborted) log.warn({ err: error, document: name }, NOT_KEPT);
        });
        if (limits.aborted) return;
      }
      if (failures.length > 0) await clock.sleep(backoff.next(failures[0]), limits).catch(() => undefined);
    }
  }

  /** The term of now. Others led and wrote before it: what equals our last word may not be what they left. */
  #enter(): Term {
    const term = this.#parts.term();
    if (term.leader && term.signal !== this.#entered) {
      this.#entered = term.signal;
      this.#parts.store.begin(`${term.epoch} ${randomBytes(6).toString('hex')}`, term.signal);
    }
    return term;
  }

  async #writeNoted(name: string, noted: Noted, limits: AbortSignal): Promise<void> {
    if (!isOver(noted.signal)) {
      await this.#parts.store.replace(
        name,
        (current) =>
          this.#noted.get(name) !== noted || this.#isOfOthers(name, current) ? undefined : noted.document,
        limits,
      );
      if (limits.aborted) throw new Retry('the term ended');
    }
    if (this.#noted.get(name) === noted) this.#noted.delete(name);
  }

  /** Whether somebody has written it since this process knew it last. */
  #isOfOthers(name: string, current: string | undefined): boolean {
    return this.#seen.has(name) && current !== this.#seen.get(name);
  }
}

function isOver(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}

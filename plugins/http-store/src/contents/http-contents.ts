import type { ContentRequest, Contents, ContentSource } from '@haptic/core/contract';
import { howSchema } from '../fetch-options.ts';
import { verdictTotal } from '../metrics.ts';
import { redacted } from '../network/url.ts';
import { ContentState } from './content-state.ts';
import type { KeptContents } from './kept-contents.ts';
import { Refresher, type RefresherParts } from './refresher.ts';

/** What an unwanted URL had is kept for when it is wanted again, of so many. */
const MOST_PARKED = 32;
const LONGEST_REASON = 200;

export interface HttpContentsParts extends RefresherParts {
  readonly kept: KeptContents;
}

/** The contents that templates ask for by URL. Nothing runs for what nobody wants. */
export class HttpContents implements ContentSource {
  readonly #parts: HttpContentsParts;
  readonly #wanted = new Map<string, Refresher>();
  readonly #parked = new Map<string, ContentState>();
  readonly #refusals = new Map<string, string>();
  readonly #listeners = new Set<() => void>();
  readonly #stopping = new Set<Promise<void>>();
  #accepted: Contents = new Map();

  constructor(parts: HttpContentsParts) {
    this.#parts = parts;
  }

  accepted(): Contents {
    return this.#accepted;
  }

  pending(): Contents {
    const pending = new Map<string, string>();
    for (const [key, { state }] of this.#wanted) {
      if (state.pending !== undefined) pending.set(key, state.pending);
    }
    return pending;
  }

  want(requests: readonly ContentRequest[]): void {
    const wanted = new Map(requests.map(({ key, options }) => [key, howSchema.parse(options)]));
    for (const [key, refresher] of this.#wanted) {
      if (!wanted.has(key)) this.#park(key, refresher);
    }
    for (const [key, how] of wanted) {
      const known = this.#wanted.get(key);
      if (known !== undefined && JSON.stringify(known.how) === JSON.stringify(how)) continue;
      if (known !== undefined) this.#stop(known);
      const state = known?.state ?? this.#unpark(key);
      this.#wanted.set(key, new Refresher(key, how, state, () => this.#tell(), this.#parts));
    }
    this.#publish();
  }

  async attempted(keys: readonly string[], signal: AbortSignal): Promise<void> {
    const first = keys
      .flatMap((key) => this.#wanted.get(key) ?? [])
      .filter(({ state }) => state.accepted === undefined)
      .map(({ attempted }) => attempted);
    const aborted = Promise.withResolvers<void>();
    const abort = (): void => aborted.resolve();
    if (signal.aborted) return;
    signal.addEventListener('abort', abort, { once: true });
    await Promise.race([Promise.all(first), aborted.promise]);
    signal.removeEventListener('abort', abort);
  }

  accept(contents: Contents): void {
    const { log, meter } = this.#parts;
    let hasOvertaken = false;
    for (const [key, text] of contents) {
      const refresher = this.#wanted.get(key);
      if (refresher === undefined || refresher.state.accepted === text) continue;
      refresher.state.accept(text);
      hasOvertaken ||= refresher.state.pending !== undefined;
      this.#refusals.delete(key);
      meter.count(verdictTotal, { verdict: 'accepted' });
      log.info({ url: redacted(key), characters: text.length }, 'a new content was accepted');
    }
    this.#publish();
    this.#parts.kept.keep(this.#accepted);
    // The server took it back while it was judged: that was no news then, since it was what had been accepted before.
    if (hasOvertaken) this.#tell();
  }

  refuse(contents: Contents, reason: Error): void {
    const { log, meter } = this.#parts;
    for (const [key, text] of contents) {
      const refresher = this.#wanted.get(key);
      if (refresher === undefined) continue;
      refresher.state.refuse(text);
      this.#refusals.set(key, reason.message.slice(0, LONGEST_REASON));
      meter.count(verdictTotal, { verdict: 'refused' });
      log.error(
        { url: redacted(key), err: reason },
        'a new content was refused, the last accepted one stays',
      );
    }
  }

  reconsider(): void {
    this.#refusals.clear();
    for (const { state } of this.#wanted.values()) state.reconsider();
    for (const state of this.#parked.values()) state.reconsider();
    if (this.pending().size > 0) this.#tell();
  }

  onPending(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** One line about what is not as it should be. */
  problem(): string | undefined {
    const problems = [...this.#wanted].flatMap(([key, { problem, state, how }]) => {
      const refusal = state.pending === undefined ? this.#refusals.get(key) : undefined;
      const missing =
        state.accepted === undefined ? (how.critical ? 'critical, never accepted' : 'never accepted') : [];
      const parts = [problem ?? [], refusal === undefined ? [] : `refused: ${refusal}`].flat();
      return parts.length === 0 ? [] : [`${redacted(key)}: ${[...parts, missing].flat().join('; ')}`];
    });
    return problems.join(' | ') || undefined;
  }

  async close(): Promise<void> {
    for (const refresher of this.#wanted.values()) this.#stop(refresher);
    await Promise.all(this.#stopping);
    await this.#parts.kept.close();
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }

  #stop(refresher: Refresher): void {
    const stopping = refresher.stop().finally(() => this.#stopping.delete(stopping));
    this.#stopping.add(stopping);
  }

  #park(key: string, refresher: Refresher): void {
    this.#stop(refresher);
    this.#wanted.delete(key);
    this.#refusals.delete(key);
    if (refresher.state.accepted === undefined) return;
    this.#parked.set(key, refresher.state);
    if (this.#parked.size > MOST_PARKED) this.#parked.delete([...this.#parked.keys()][0]!);
  }

  #unpark(key: string): ContentState {
    const parked = this.#parked.get(key);
    this.#parked.delete(key);
    return parked ?? new ContentState(this.#parts.kept.take(key));
  }

  /** Another map, where something is other than in the last one. Parked ones are in it: a render may want them again. */
  #publish(): void {
    const states = [
      ...this.#parked,
      ...Array.from(this.#wanted, ([key, { state }]) => [key, state] as const),
    ];
    const accepted = new Map<string, string>();
    for (const [key, state] of states) if (state.accepted !== undefined) accepted.set(key, state.accepted);
    const same =
      accepted.size === this.#accepted.size &&
      [...accepted].every(([key, text]) => this.#accepted.get(key) === text);
    if (!same) this.#accepted = accepted;
  }
}

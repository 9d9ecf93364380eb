import { Refused, type Problem } from '../contract/errors.ts';
import type { Clock, Log } from '../contract/observability.ts';
import {
  digestOfTexts,
  parseCredentials,
  readCredentialTexts,
  type CredentialFiles,
  type Credentials,
} from './credentials.ts';

export interface FollowedOptions {
  readonly files: CredentialFiles;
  /** What the other side's certificates are told by. */
  readonly peerName?: string;
  readonly log: Log;
  readonly clock: Clock;
  /** Between two looks at the files, milliseconds. */
  readonly interval?: number;
  /** Told of each new content that cannot be used. */
  readonly refused?: () => void;
}

export type CredentialsListener = (next: Credentials, before: Credentials) => void;

const INTERVAL_MS = 1_000;

/**
 * The credentials that are in the files now, as long as those can be used; else the last ones that could.
 *
 * The files are read again and again instead of being watched: what Kubernetes mounts is a chain of links that is turned over
 * by a rename of another directory (`..data`), which a watch of the file itself never sees; file systems exist that report
 * nothing; and reports get lost. A few small files a second cost nothing. Contents count, no times: they have the same content
 * twice in a row before they are taken, since half a bundle of authorities is a bundle too, of fewer.
 */
export class FollowedCredentials implements Disposable {
  readonly #options: FollowedOptions;
  readonly #listeners = new Set<CredentialsListener>();
  readonly #stop = new AbortController();
  #current: Credentials;
  /** Digests: of what is in use, of what was seen at the last look, of what was refused last. */
  #used: string;
  #seen: string;
  #refused: string | undefined;

  /** @throws Refused when there is nothing to begin with. */
  constructor(options: FollowedOptions) {
    this.#options = options;
    const texts = readCredentialTexts(options.files);
    this.#current = parseCredentials(options.files, texts, options.peerName);
    this.#used = digestOfTexts(texts);
    this.#seen = this.#used;
    void this.#follow();
  }

  get current(): Credentials {
    return this.#current;
  }

  /** Returns how to stop. */
  onChange(listener: CredentialsListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  [Symbol.dispose](): void {
    this.#stop.abort();
  }

  async #follow(): Promise<void> {
    const { clock, interval = INTERVAL_MS, log } = this.#options;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await clock.sleep(interval, signal).catch(() => {});
      if (signal.aborted) return;
      try {
        this.#look();
      } catch (error) {
        log.error({ err: error }, 'cannot take other certificates');
      }
    }
  }

  #look(): void {
    const { files, peerName, log } = this.#options;
    const texts = readCredentialTexts(files);
    const digest = digestOfTexts(texts);
    const isSettled = digest === this.#seen;
    this.#seen = digest;
    if (digest === this.#used) this.#refused = undefined;
    if (!isSettled || digest === this.#used || digest === this.#refused) return;
    let next: Credentials;
    try {
      next = parseCredentials(files, texts, peerName);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      this.#refused = digest;
      this.#refuse(error.problems);
      return;
    }
    const before = this.#current;
    this.#current = next;
    this.#used = digest;
    this.#refused = undefined;
    log.info(next.fingerprints, 'other certificates are used now');
    for (const listener of this.#listeners) listener(next, before);
  }

  #refuse(problems: readonly Problem[]): void {
    this.#options.log.error(
      { problems },
      'the new certificates cannot be used, going on with the former ones',
    );
    this.#options.refused?.();
  }
}

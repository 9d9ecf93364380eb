import { Cancelled, didYouMean, Refused, type WatchContent } from '@haptic/core/contract';
import { isSecrets, isTls } from './secret-choice.ts';
import { secretKey, SecretReferences } from './secret-references.ts';
import { WatchFeed, type FeedParts } from './watch-feed.ts';

export type SubscriptionParts = Pick<
  FeedParts,
  'sink' | 'api' | 'discovery' | 'pool' | 'interests' | 'clock' | 'log'
> & {
  readonly watches: Readonly<Record<string, WatchContent>>;
  readonly signal: AbortSignal;
};

/** The writes of one change name their Secrets this close together, milliseconds. */
const REFERENCES_QUIET_MS = 100;

/** All watches of one sink, until the signal aborts. */
export class Subscription {
  readonly #parts: SubscriptionParts;
  readonly #feeds: readonly WatchFeed[];
  readonly #ignoreSecrets: () => void;
  #refiltering = false;

  constructor(parts: SubscriptionParts) {
    this.#parts = parts;
    const { watches, signal: _signal, ...common } = parts;
    const references = new SecretReferences();
    const secrets = {
      references,
      secretNamed: () => this.#refilterSoon(),
      awaitsSecret: (name: string) => this.#feeds.some((feed) => feed.awaitsSecret(name)),
      secretsCame: () => {
        for (const feed of this.#feeds) feed.passWaiting();
      },
    };
    this.#feeds = Object.entries(watches).map(
      ([name, watch]) => new WatchFeed({ ...common, ...secrets, name, watch }),
    );
    this.#ignoreSecrets = parts.interests.followSecrets(
      (secret) => isTls(secret) || references.has(secretKey(secret.metadata)),
    );
  }

  /**
   * Resolves when the sink has everything.
   * @throws Refused naming every required kind that the server does not serve
   */
  async fill(): Promise<void> {
    // Before it, nothing can be said to be missing.
    await this.#parts.discovery.known;
    if (this.#parts.signal.aborted) throw new Cancelled();
    const missing = this.#feeds.filter(({ watch, isServed }) => !watch.optional && !isServed);
    if (missing.length > 0) throw new Refused(missing.map((feed) => this.#notServed(feed)));
    const [secrets, others] = [true, false].map((wanted) =>
      this.#feeds.filter(({ watch }) => isSecrets(watch) === wanted),
    );
    await this.#start(others!);
    // Which Secrets are wanted, the others say.
    await this.#start(secrets!);
  }

  /** Kinds have come or gone. */
  resolve(): void {
    for (const feed of this.#feeds) feed.resolve();
  }

  stop(): void {
    this.#ignoreSecrets();
    for (const feed of this.#feeds) feed.stop();
  }

  async #start(feeds: readonly WatchFeed[]): Promise<void> {
    if (this.#parts.signal.aborted) throw new Cancelled();
    for (const feed of feeds) feed.resolve();
    await Promise.all(feeds.map(({ synced }) => synced));
  }

  /** One look, and at most one list, for all Secrets that are named at about the same time. */
  #refilterSoon(): void {
    if (this.#refiltering) return;
    this.#refiltering = true;
    this.#refilter().catch((error: unknown) => {
      if (!this.#parts.signal.aborted) {
        this.#parts.log.error({ err: error }, 'cannot take in Secrets that objects name');
      }
    });
  }

  async #refilter(): Promise<void> {
    await this.#parts.clock.sleep(REFERENCES_QUIET_MS, this.#parts.signal);
    this.#refiltering = false;
    for (const feed of this.#feeds) if (isSecrets(feed.watch)) feed.refilter();
  }

  #notServed({ name, watch }: WatchFeed): { readonly where: string; readonly message: string } {
    const { discovery } = this.#parts;
    const served = discovery.resourcesOf(watch.apiVersions).map(({ resource }) => resource);
    const versions = watch.apiVersions.join(' or ');
    const hint = didYouMean(watch.resources, served);
    const message = `the API server serves no ${watch.resources} of ${versions}${hint}; install what defines them, or mark the watch as optional`;
    return { where: `watchedResources.${name}`, message };
  }
}

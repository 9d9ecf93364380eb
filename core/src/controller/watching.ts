import { canonicalJson } from '../values/canonical-json.ts';
import {
  Bug,
  type Log,
  type MergedConfig,
  type ResourceSource,
  type StoreChange,
  type StoreView,
} from '../contract/index.ts';
import { Store } from '../store/index.ts';

/** A store that a resource source keeps filled with the watches of a configuration. */
export class Watching {
  readonly #watches: MergedConfig['watchedResources'];
  readonly #store: Store;
  readonly #stop = new AbortController();
  readonly #synced: Promise<void>;
  #failed = false;

  constructor(source: ResourceSource, watches: MergedConfig['watchedResources'], log: Log) {
    this.#watches = watches;
    this.#store = new Store(watches);
    this.#synced = source.watch(watches, this.#store, this.#stop.signal);
    // Whoever waits for it hears of a failure; that nobody may be waiting must not end the process.
    this.#synced.catch((error: unknown) => {
      this.#failed = true;
      log.debug({ err: error }, 'the resource source gave up');
    });
  }

  /** Whether it watches just these, and has neither been stopped nor given up by its source. */
  serves(watches: MergedConfig['watchedResources']): boolean {
    return (
      !this.#failed && !this.#stop.signal.aborted && canonicalJson(this.#watches) === canonicalJson(watches)
    );
  }

  /** Resolves when every watch was filled once. */
  async synced(): Promise<void> {
    await this.#synced;
    const { unsynced } = this.#store;
    if (unsynced.length > 0) throw new Bug(`the resource source never filled ${unsynced.join(', ')}`);
  }

  view(): StoreView {
    return this.#store.view();
  }

  isServed(watch: string): boolean {
    return !this.#store.notServedWatches.includes(watch);
  }

  onChange(listener: (changes: readonly StoreChange[]) => void): () => void {
    return this.#store.onChange(listener);
  }

  stop(): void {
    this.#stop.abort();
  }
}

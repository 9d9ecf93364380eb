import type { Clock, KubeObject, Log } from '@haptic/core/contract';
import type { KubeApi, ReflectorEvent } from '@haptic/kube';
import { SharedWatch, type Selection, type Subscriber } from './shared-watch.ts';

/** Which of the selected objects are kept. Equal keys keep equal objects. */
export interface Filter {
  readonly key: string;
  keep(object: KubeObject): boolean;
}

export interface WatchPoolParts {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly log: Log;
  /** The server said that it does not know a kind any more. */
  readonly notServed: () => void;
  readonly observe: (selection: Selection, event: ReflectorEvent) => void;
}

/** One watch for everybody who wants the same objects: a new configuration that watches what the old one did costs no list. */
export class WatchPool {
  readonly #parts: WatchPoolParts;
  readonly #watches = new Map<string, SharedWatch>();
  readonly #stopping = new Set<Promise<void>>();

  constructor(parts: WatchPoolParts) {
    this.#parts = parts;
  }

  /** Told of everything and of every change, until the returned function is called. */
  subscribe(selection: Selection, subscriber: Subscriber, filter?: Filter): () => void {
    const key = JSON.stringify([selection, filter?.key]);
    const watch = this.#watches.get(key) ?? this.#start(key, selection, filter);
    const unsubscribe = watch.subscribe(subscriber);
    return () => {
      unsubscribe();
      if (!watch.isUsed) this.#retire(key, watch);
    };
  }

  /** What the server refuses of all that somebody wants. */
  get refusals(): readonly string[] {
    return [...this.#watches.values()].flatMap(({ refusals }) => refusals);
  }

  /** Resolves when no request runs any more. Whoever subscribed must have gone. */
  async idle(): Promise<void> {
    while (this.#stopping.size > 0) await Promise.all(this.#stopping);
  }

  #start(key: string, selection: Selection, filter: Filter | undefined): SharedWatch {
    const { observe, ...parts } = this.#parts;
    const watch = new SharedWatch(
      selection,
      { ...parts, observe: (event) => observe(selection, event) },
      filter && ((object) => filter.keep(object)),
    );
    this.#watches.set(key, watch);
    return watch;
  }

  #retire(key: string, watch: SharedWatch): void {
    if (this.#watches.get(key) === watch) this.#watches.delete(key);
    const stopping = watch.stop().finally(() => this.#stopping.delete(stopping));
    this.#stopping.add(stopping);
  }
}

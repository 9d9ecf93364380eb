import {
  Cancelled,
  type Clock,
  type Log,
  type Meter,
  type ResourceSource,
  type StoreSink,
  type WatchContent,
} from '@haptic/core/contract';
import { countRestarts, type KubeConnection } from '@haptic/kube';
import type { Interests } from './interests.ts';
import { Subscription } from './subscription.ts';
import { WatchPool } from './watch-pool.ts';

export interface ClusterResourcesParts {
  readonly kube: KubeConnection;
  readonly interests: Interests;
  readonly clock: Clock;
  readonly log: Log;
  readonly meter: Meter;
  readonly signal: AbortSignal;
}

/** Objects of a Kubernetes API as watched resources. */
export class ClusterResources implements ResourceSource {
  readonly #parts: ClusterResourcesParts;
  readonly #pool: WatchPool;
  readonly #subscriptions = new Set<Subscription>();

  constructor(parts: ClusterResourcesParts) {
    this.#parts = parts;
    const { kube, clock, log, meter } = parts;
    this.#pool = new WatchPool({
      api: kube.api,
      clock,
      log,
      notServed: () => this.#lookAtKinds(),
      observe: ({ resource }, event) => countRestarts(meter, resource.resource)(event),
    });
  }

  async watch(
    watches: Readonly<Record<string, WatchContent>>,
    sink: StoreSink,
    signal: AbortSignal,
  ): Promise<void> {
    if (signal.aborted) throw new Cancelled();
    const { kube, interests, clock, log } = this.#parts;
    const common = { api: kube.api, discovery: kube.discovery, pool: this.#pool, interests, clock, log };
    const subscription = new Subscription({ ...common, watches, sink, signal });
    const end = Promise.withResolvers<never>();
    signal.addEventListener('abort', () => {
      this.#subscriptions.delete(subscription);
      subscription.stop();
      end.reject(new Cancelled());
    });
    this.#subscriptions.add(subscription);
    await Promise.race([subscription.fill(), end.promise]);
  }

  /** Kinds have come or gone. */
  kindsChanged(): void {
    for (const subscription of this.#subscriptions) subscription.resolve();
  }

  /** What the server refuses of all that is watched. */
  get refusals(): readonly string[] {
    return this.#pool.refusals;
  }

  async idle(): Promise<void> {
    await this.#pool.idle();
  }

  /** A watch found its kind gone before discovery did. */
  #lookAtKinds(): void {
    const { kube, log, signal } = this.#parts;
    kube.refreshKinds(signal).catch((error: unknown) => {
      if (!signal.aborted) log.debug({ err: error }, 'discovery failed and is tried again');
    });
  }
}

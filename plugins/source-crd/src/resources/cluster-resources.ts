import {
  Cancelled,
  type Clock,
  type Log,
  type Meter,
  type MetricDefinition,
  type ResourceSource,
  type StoreSink,
  type WatchContent,
} from '@haptic/core/contract';
import type { KubeConnection, ReflectorEvent } from '@haptic/kube';
import type { Interests } from './interests.ts';
import type { Selection } from './shared-watch.ts';
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

const RESTARTS: MetricDefinition = {
  name: 'haptic_watch_restarts_total',
  help: 'Watches of the Kubernetes API that ended and were begun again.',
  labels: ['watch', 'cause'],
};

/** Objects of a Kubernetes API as watched resources. */
export class ClusterResources implements ResourceSource {
  readonly #parts: ClusterResourcesParts;
  readonly #pool: WatchPool;
  readonly #subscriptions = new Set<Subscription>();

  constructor(parts: ClusterResourcesParts) {
    this.#parts = parts;
    const { kube, clock, log } = parts;
    this.#pool = new WatchPool({
      api: kube.api,
      clock,
      log,
      notServed: () => this.#lookAtKinds(),
      observe: (selection, event) => this.#count(selection, event),
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

  #count({ resource }: Selection, event: ReflectorEvent): void {
    if (event.type !== 'restarted') return;
    const cause = event.error === undefined ? 'time' : 'error';
    this.#parts.meter.count(RESTARTS, { watch: resource.resource, cause });
  }
}

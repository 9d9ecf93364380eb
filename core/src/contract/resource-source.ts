import type { WatchContent } from './config.ts';
import type { KubeObject } from './object.ts';
import { serviceKey, type ServiceKey } from './service-key.ts';

/** Receives the objects of one watch from a resource source. All objects arrive unfrozen and are frozen here. */
export interface StoreSink {
  /** The complete list: what is absent is deleted. Marks the watch as synced. */
  replace(watch: string, objects: readonly KubeObject[]): void;
  /** One coherent batch of changes. */
  apply(
    watch: string,
    changes: {
      readonly upserts: readonly KubeObject[];
      readonly deletes: readonly { namespace: string; name: string }[];
    },
  ): void;
  /** The source cannot serve this (optional) watch. */
  notServed(watch: string): void;
}

/** Brings watched resources into the store. Exactly one plugin provides it. */
export interface ResourceSource {
  /**
   * Starts watching; resolves when every watch has been filled once, or is known not to be served. Called again, with another
   * sink, when a configuration comes with other watches: both sinks are kept filled until their signals abort, so that one
   * configuration serves while the next one waits for its objects. Ends at `signal`.
   */
  watch(watches: Readonly<Record<string, WatchContent>>, sink: StoreSink, signal: AbortSignal): Promise<void>;
}
export const RESOURCE_SOURCE: ServiceKey<ResourceSource> = serviceKey('resource-source');

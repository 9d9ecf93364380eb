import type { KubeObject, ObjectRef } from './object.ts';

/** The objects of one watched resource, in a snapshot. Lists are ordered by namespace, then name (code units). */
export interface WatchView {
  /** False where an optional watch is not served by the source. */
  readonly served: boolean;
  list(): readonly KubeObject[];
  get(namespace: string, name: string): KubeObject | undefined;
  /**
   * Objects whose indexed paths equal `keys`. `index` is one of the watch's `indexBy` paths, or several joined by `,`.
   * @throws Refused when the watch has no such index.
   */
  by(index: string, ...keys: readonly string[]): readonly KubeObject[];
  /**
   * Objects in quarantine that no accepted revision stands in for; nothing above shows them. A route source gives them the routes
   * that they would have, each answering 503, and reads nothing else of them. Ordered as `list`.
   */
  unavailable(): readonly KubeObject[];
}

/** One frozen snapshot of the store: what a render sees. Taking one costs nothing; later writes do not change it. */
export interface StoreView {
  /** Rises with every change of the store; equal revisions are equal snapshots. Overlays have the revision of their base. */
  readonly revision: number;
  readonly watches: readonly string[];
  /** @throws Refused for a watch that the configuration does not declare. */
  watch(name: string): WatchView;
}

/** What changed in the store; an update that leaves the object deep-equal is no change. */
export interface StoreChange {
  readonly watch: string;
  readonly type: 'added' | 'updated' | 'deleted';
  readonly object: ObjectRef;
  readonly before?: KubeObject;
  readonly after?: KubeObject;
}

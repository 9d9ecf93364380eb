import type { Clock, Log } from '@haptic/core/contract';
import type { Layout } from '../protocol/index.ts';
import { reload } from '../haproxy/reload.ts';
import type { Tree } from '../files/tree.ts';
import type { TreeStore } from '../files/tree-store.ts';
import type { WorkerRecordFile } from './worker-record.ts';

export interface LoaderFacts {
  readonly layout: Layout;
  readonly trees: TreeStore;
  readonly record: WorkerRecordFile;
  readonly clock: Clock;
  readonly log: Log;
  /** Milliseconds. */
  readonly reloadTimeout: number;
  /** Shortest time from one reload to the next, milliseconds. */
  readonly reloadIntervalMin: number;
  readonly signal: AbortSignal;
}

export type LoadResult = { readonly kind: 'loaded' } | { readonly kind: 'failed'; readonly message: string };

/** Has HAProxy load the tree that `current` points at, and puts another one back when it does not. */
export class Loader {
  readonly #facts: LoaderFacts;
  #lastReload = Number.NEGATIVE_INFINITY;

  constructor(facts: LoaderFacts) {
    this.#facts = facts;
  }

  /** Milliseconds until the next reload may start. */
  waitMs(): number {
    const { clock, reloadIntervalMin } = this.#facts;
    return Math.max(0, this.#lastReload + reloadIntervalMin - clock.now());
  }

  /** A loaded tree becomes the last known good one. On failure the old worker keeps serving and `restoreTo` is in place. */
  async load(tree: Tree, restoreTo: Tree | undefined): Promise<LoadResult> {
    const { layout, trees, record, clock, log, signal } = this.#facts;
    const result = await reload({
      sockets: { master: layout.masterSocket, worker: layout.workerSocket },
      textId: tree.record.textId,
      timeoutMs: this.#facts.reloadTimeout,
      clock,
      signal,
    });
    this.#lastReload = clock.now();
    if (result.kind === 'loaded') {
      const { pid, startedAt } = result.worker;
      record.set({ pid, startedAt, planId: tree.record.planId, treeId: tree.id });
      trees.point('lkg', tree);
      return { kind: 'loaded' };
    }
    const message = result.kind === 'refused' ? result.words : `no verdict from HAProxy: ${result.message}`;
    log.warn(
      { plan: tree.record.planId, message },
      'HAProxy did not load the files; putting the former ones back',
    );
    if (restoreTo === undefined) trees.unpoint('current');
    else trees.point('current', restoreTo);
    return { kind: 'failed', message };
  }
}

import type { Clock, Log, Meter } from '@haptic/core/contract';
import type { Layout } from '../protocol/index.ts';
import { reload, type ReloadResult } from '../haproxy/reload.ts';
import type { Tree } from '../files/tree.ts';
import type { TreeStore } from '../files/tree-store.ts';
import type { DeferredDeletes } from '../runtime/deferred-deletes.ts';
import type { Step } from '../steps.ts';
import { RELOAD_DURATION, RELOADS } from '../metrics/definitions.ts';
import { KnownBad } from './known-bad.ts';
import { keepAsLastKnownGood } from './last-known-good.ts';
import type { WorkerRecordFile } from './worker-record.ts';

export interface LoaderFacts {
  readonly layout: Layout;
  readonly trees: TreeStore;
  readonly record: WorkerRecordFile;
  readonly deferred: DeferredDeletes;
  readonly clock: Clock;
  readonly meter: Meter;
  readonly log: Log;
  /** Milliseconds. */
  readonly reloadTimeout: number;
  /** Shortest time from one reload to the next, milliseconds. */
  readonly reloadIntervalMin: number;
  readonly signal: AbortSignal;
  readonly onStep: (step: Step) => void;
}

export type LoadResult =
  | { readonly kind: 'loaded' }
  | {
      readonly kind: 'failed';
      readonly stage: 'reload' | 'no_verdict';
      readonly message: string;
      /** The former files are in place again. */
      readonly isRestored: boolean;
    };

/** Has HAProxy load the tree that `current` points at, and puts another one back when it does not. */
export class Loader {
  readonly knownBad: KnownBad;
  readonly #facts: LoaderFacts;
  #lastReload = Number.NEGATIVE_INFINITY;

  constructor(facts: LoaderFacts) {
    this.#facts = facts;
    this.knownBad = new KnownBad(facts.clock);
  }

  /** Milliseconds until the next reload may start. */
  waitMs(): number {
    const { clock, reloadIntervalMin } = this.#facts;
    return Math.max(0, this.#lastReload + reloadIntervalMin - clock.now());
  }

  /** A loaded tree becomes the last known good one. On failure the old worker keeps serving and `restoreTo` is in place. */
  async load(tree: Tree, restoreTo: Tree | undefined): Promise<LoadResult> {
    const { log } = this.#facts;
    const result = await this.#reload(tree);
    if (result.kind === 'loaded') return { kind: 'loaded' };
    const message = result.kind === 'refused' ? result.words : `no verdict from HAProxy: ${result.message}`;
    const { planId } = tree.record;
    if (result.kind === 'refused' && planId !== null) this.knownBad.note(planId, message);
    log.warn({ plan: planId, message }, 'HAProxy did not load the files; putting the former ones back');
    const isRestored = await this.#restore(tree, restoreTo, result.kind === 'other');
    return {
      kind: 'failed',
      stage: result.kind === 'refused' ? 'reload' : 'no_verdict',
      message,
      isRestored,
    };
  }

  async #reload(tree: Tree): Promise<ReloadResult> {
    const { layout, trees, record, deferred, clock, meter, signal } = this.#facts;
    const measured = meter.time(RELOAD_DURATION);
    await deferred.pause();
    const result = await reload({
      sockets: { master: layout.masterSocket, worker: layout.workerSocket },
      textId: tree.record.textId,
      timeoutMs: this.#facts.reloadTimeout,
      clock,
      signal,
    }).finally(() => deferred.resume());
    this.#lastReload = clock.now();
    measured();
    meter.count(RELOADS, { result: result.kind === 'other' ? 'unknown' : result.kind });
    this.#facts.onStep(result.kind === 'loaded' ? 'reloaded' : 'refused');
    if (result.kind !== 'loaded') return result;
    const { pid, startedAt } = result.worker;
    record.learn({ pid, startedAt, planId: tree.record.planId, treeId: tree.id, deferred: [] });
    deferred.drop();
    this.knownBad.forget(tree.record.planId ?? '');
    keepAsLastKnownGood(trees, tree, this.#facts.log);
    return result;
  }

  /**
   * A worker that was changed towards the tree that goes, or is another one, must load the one that comes back, too. False where the
   * files that go are still in place.
   */
  async #restore(tree: Tree, restoreTo: Tree | undefined, isOther: boolean): Promise<boolean> {
    const { trees, record, log } = this.#facts;
    const isTouched = tree.record.touchesWorker || isOther;
    if (isTouched && record.value !== undefined) record.learn({ ...record.value, treeId: null });
    const former = restoreTo ?? trees.pointer('lkg');
    try {
      if (former === undefined) trees.unpoint('current');
      else trees.point('current', former);
    } catch (error) {
      log.error({ err: error, plan: former?.record.planId }, 'cannot put the former files back');
      return false;
    }
    if (isTouched && former !== undefined) await this.#reloadFormer(former);
    return true;
  }

  async #reloadFormer(former: Tree): Promise<void> {
    const { log } = this.#facts;
    const plan = former.record.planId;
    const known = this.knownBad.words(plan);
    if (known !== undefined) {
      log.error({ plan, known }, 'HAProxy refused the former files, too');
      return;
    }
    const result = await this.#reload(former);
    if (result.kind !== 'loaded') log.error({ plan, result }, 'HAProxy did not load the former files either');
  }
}

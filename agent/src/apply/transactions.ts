import { IN_PLACE_OPS, type Log, type Meter, type Operation } from '@haptic/core/contract';
import { probeBinds } from '../haproxy/bind-probe.ts';
import type { Tree, TreeRecord } from '../files/tree.ts';
import type { PlanStore } from '../files/plan-store.ts';
import type { TreeStore } from '../files/tree-store.ts';
import { KNOWN_BAD_HITS } from '../metrics/definitions.ts';
import type { ApplyAnswer, ApplyRequest, Stage } from '../protocol/index.ts';
import type { RunResult } from '../runtime/run-operations.ts';
import type { Step } from '../steps.ts';
import type { CompleteIncoming } from './incoming.ts';
import type { WantedSet } from './wanted-set.ts';
import { keepAsLastKnownGood } from './last-known-good.ts';
import type { Loader } from './loader.ts';
import type { WorkerChanges } from './worker-changes.ts';
import type { Observation, WorkerWatch } from './worker-watch.ts';
import type { WorkerRecordFile } from './worker-record.ts';

export interface TransactionFacts {
  readonly trees: TreeStore;
  readonly plans: PlanStore;
  readonly record: WorkerRecordFile;
  readonly watch: WorkerWatch;
  readonly loader: Loader;
  readonly changes: WorkerChanges;
  /** The reload that waits for its turn. */
  readonly reloads: { later(ms: number): void; cancel(): void };
  readonly log: Log;
  readonly meter: Meter;
  readonly signal: AbortSignal;
  readonly onStep: (step: Step) => void;
}

/** What became of an apply, before it is an answer. */
export type ApplyResult =
  | {
      readonly outcome: Exclude<ApplyAnswer['outcome'], 'rejected'>;
      readonly committed: boolean;
      /** Why a reload did the work of operations. */
      readonly fellBack?: string;
    }
  | {
      readonly outcome: 'rejected';
      readonly stage: Stage;
      readonly message: string;
      readonly rolledBack: boolean;
      readonly fellBack?: string;
    };

/** What an apply is, seen from the worker. */
interface Situation {
  readonly incoming: CompleteIncoming;
  readonly current: Tree | undefined;
  readonly observed: Observation;
  /** A reload shall do it, whatever else could. */
  readonly loads: boolean;
  /** What is in place has still to be loaded. */
  readonly awaited: boolean;
  /** A reload that is due has to wait. */
  readonly paced: boolean;
}

/** Brings files and worker from one state to another; never called twice at once. */
export class Transactions {
  readonly #facts: TransactionFacts;

  constructor(facts: TransactionFacts) {
    this.#facts = facts;
  }

  /** @throws when nothing was put in place, for whatever reason. */
  async replace(incoming: CompleteIncoming, observed: Observation): Promise<ApplyResult> {
    const { trees, loader } = this.#facts;
    const { request } = incoming;
    const loads = request.mode === 'reload' || incoming.skew.length > 0;
    const current = trees.pointer('current');
    if (!loads && current !== undefined && this.#same(current, incoming)) {
      if (isValidated(request, current)) trees.point('lkg', current);
      return { outcome: 'noop', committed: false };
    }
    if (loads) {
      const problem = await probeBinds(addresses(request), this.#heldBinds(observed));
      if (problem !== undefined) return rejected('bind', problem);
    }
    // Operations do not make files better: the next start of HAProxy would read them, or the reload that they fall back to.
    const words = loader.knownBad.words(request.planId);
    if (words !== undefined) return this.#knownBad(words);
    const awaited = current !== undefined && this.awaitsLoad(current);
    const situation = { incoming, current, observed, loads, awaited, paced: loader.waitMs() > 0 };
    const tree = this.#commit(situation);
    if (loads && situation.paced) return await this.#putOff(tree, incoming.inPlaceOps, observed);
    if (loads) return await this.load(tree);
    if (awaited) return await this.#putOff(tree, incoming.ops, observed);
    const result = await this.#change(tree, situation);
    const isDone = result.outcome === 'runtime' || result.outcome === 'file_only';
    if (isDone && isValidated(request, tree)) keepAsLastKnownGood(trees, tree, this.#facts.log);
    return result;
  }

  #knownBad(words: string): ApplyResult {
    this.#facts.meter.count(KNOWN_BAD_HITS);
    return rejected('reload', words);
  }

  /** Puts the files in place. What a crash leaves undone from here on, the next start does by a reload. */
  #commit({ incoming, current, loads, awaited, paced }: Situation): Tree {
    const { trees } = this.#facts;
    const { request, ops, inPlaceOps, contents, set } = incoming;
    const unproven = awaited && current?.record.needsLoad === true;
    const restoreTo = unproven ? current.record.restoreTo : (current?.id ?? null);
    const changesNow = loads ? paced && inPlaceOps.length > 0 : ops.length > 0;
    const record = recordOf(request, set, {
      needsLoad: loads || awaited || changesNow,
      touchesWorker: changesNow || (awaited && current?.record.touchesWorker === true),
      restoreTo,
    });
    if (record.needsLoad) this.#keepWayBack(trees.tree(restoreTo ?? ''));
    this.#facts.plans.write(incoming.chunks);
    this.#facts.onStep('stored-plan');
    const tree = trees.stage({ record, contents });
    trees.point('current', tree);
    this.#facts.onStep('committed');
    return tree;
  }

  /** Before anything is put in place: what goes wrong afterwards may be that the disk is full. */
  #keepWayBack(former: Tree | undefined): void {
    const { trees } = this.#facts;
    const tree = former ?? trees.pointer('lkg');
    if (tree !== undefined) trees.keepWayBack(tree);
  }

  /** Brings the worker in step with the files without loading them; by loading them where it does not go along. */
  async #change(tree: Tree, { incoming: { ops }, current, observed }: Situation): Promise<ApplyResult> {
    const { changes, watch, signal, trees } = this.#facts;
    const inStep = observed.record !== undefined && observed.record.treeId === current?.id;
    if (ops.length === 0) {
      if (inStep) changes.follow(observed.record, tree);
      return { outcome: 'file_only', committed: true };
    }
    if (!inStep) return await this.#fallBack(tree, 'HAProxy does not run what was applied before');
    const result = await changes.run(ops, tree, observed).catch(broken);
    this.#facts.onStep('changed');
    if (result.kind === 'done') return { outcome: 'runtime', committed: true };
    if (result.kind === 'refused') return await this.#fallBack(tree, result.words);
    signal.throwIfAborted();
    // A HAProxy that died was started again on the files that are in place.
    if ((await watch.observe(signal)).record?.treeId !== tree.id)
      return await this.#fallBack(tree, result.message);
    keepAsLastKnownGood(trees, tree, this.#facts.log);
    return { outcome: 'reload', committed: true, fellBack: result.message };
  }

  async #fallBack(tree: Tree, reason: string): Promise<ApplyResult> {
    this.#facts.log.warn({ plan: tree.record.planId, reason }, 'operations did not do, loading the files');
    const result = this.#facts.loader.waitMs() > 0 ? this.#scheduled() : await this.load(tree);
    return { ...result, fellBack: reason };
  }

  /** Endpoints do not wait for the reload. */
  async #putOff(tree: Tree, operations: readonly Operation[], observed: Observation): Promise<ApplyResult> {
    const result = this.#scheduled();
    const inPlace = operations.filter(({ op }) => IN_PLACE_OPS.has(op));
    if (inPlace.length > 0) await this.#facts.changes.runInPlace(inPlace, tree, observed);
    return result;
  }

  #scheduled(): ApplyResult {
    this.#facts.reloads.later(this.#facts.loader.waitMs());
    return { outcome: 'scheduled', committed: true };
  }

  /** Has HAProxy load it now; the former files are in place again when it does not. */
  async load(tree: Tree): Promise<ApplyResult> {
    const { loader, trees } = this.#facts;
    this.#facts.reloads.cancel();
    const result = await loader.load(tree, trees.tree(tree.record.restoreTo ?? ''));
    this.#facts.onStep('loaded');
    if (result.kind === 'loaded') return { outcome: 'reload', committed: true };
    return { ...rejected(result.stage, result.message), rolledBack: result.isRestored };
  }

  /** Back to the last known good file set. */
  async revert(observed: Observation): Promise<ApplyResult> {
    const { trees, loader } = this.#facts;
    const current = trees.pointer('current');
    const lkg = trees.pointer('lkg');
    if (lkg === undefined) return rejected('lkg', 'no file set was ever loaded: there is no last known good');
    const drift = trees.check(lkg);
    if (drift.length > 0)
      return rejected('lkg', `the last known good was changed on the disk: ${drift.join(', ')}`);
    const isTouched = current !== undefined && current.record.touchesWorker && this.awaitsLoad(current);
    const words = loader.knownBad.words(lkg.record.planId);
    const runsIt = observed.record?.treeId === lkg.id && !isTouched;
    if (current?.id === lkg.id && runsIt) return { outcome: 'noop', committed: false };
    if (!runsIt && words !== undefined) return this.#knownBad(words);
    this.#facts.reloads.cancel();
    this.#keepWayBack(current);
    if (!runsIt) this.#facts.changes.forget();
    trees.point('current', lkg);
    this.#facts.onStep('committed');
    if (runsIt) return { outcome: 'file_only', committed: true };
    const result = await loader.load(lkg, current);
    this.#facts.onStep('loaded');
    if (result.kind === 'loaded') return { outcome: 'reload', committed: true };
    return { ...rejected(result.stage, result.message), rolledBack: result.isRestored };
  }

  /** Put in place to be loaded, and not known to be. */
  awaitsLoad(tree: Tree): boolean {
    const running = this.#facts.record.value?.treeId;
    return running === null || (tree.record.needsLoad && running !== tree.id);
  }

  #same(tree: Tree, { request, set }: CompleteIncoming): boolean {
    return (
      tree.record.planId === request.planId &&
      !this.awaitsLoad(tree) &&
      set.files.differences(tree.record.files).length === 0 &&
      this.#facts.trees.drift(tree).length === 0
    );
  }

  /** What HAProxy holds already: the addresses of the tree that it runs, or of any that it may run. */
  #heldBinds(observed: Observation): string[] {
    const { trees } = this.#facts;
    const known = trees.tree(observed.record?.treeId ?? '');
    const candidates = known === undefined ? [trees.pointer('current'), trees.pointer('lkg')] : [known];
    return candidates.flatMap((tree) => tree?.record.binds ?? []);
  }
}

function isValidated({ validated }: ApplyRequest, { record }: Tree): boolean {
  return validated !== undefined && validated === record.planId;
}

/** A file that cannot be read, a record that cannot be written: how far the operations got is not known. */
function broken(error: unknown): RunResult {
  return { kind: 'unknown', message: error instanceof Error ? error.message : String(error) };
}

export function rejected(stage: Stage, cause: unknown): Extract<ApplyResult, { outcome: 'rejected' }> {
  const message = cause instanceof Error ? cause.message : String(cause);
  return { outcome: 'rejected', stage, message, rolledBack: false };
}

function addresses(request: ApplyRequest): string[] {
  return request.binds.map(({ address }) => address);
}

function recordOf(
  request: ApplyRequest,
  set: WantedSet,
  loading: Pick<TreeRecord, 'needsLoad' | 'touchesWorker' | 'restoreTo'>,
): TreeRecord {
  return {
    planId: request.planId,
    textId: request.textId,
    binds: addresses(request),
    ...set,
    ...loading,
  };
}

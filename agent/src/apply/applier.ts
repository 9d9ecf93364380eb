import { Cancelled, type Clock, type Log } from '@haptic/core/contract';
import { probeBinds } from '../haproxy/bind-probe.ts';
import type { Layout } from '../protocol/index.ts';
import type { Tree, TreeRecord } from '../files/tree.ts';
import type { TreeStore } from '../files/tree-store.ts';
import type { ApplyAnswer, ApplyRequest, Conflict, ErrorAnswer, Stage } from '../protocol/index.ts';
import type { Fence } from './fence.ts';
import { readIncoming, type Incoming } from './incoming.ts';
import type { Loader } from './loader.ts';
import type { Waiters } from './waiters.ts';
import type { Observation, WorkerWatch } from './worker-watch.ts';
import type { WorkerRecordFile } from './worker-record.ts';

/** The answer to an apply, with its HTTP status. */
export type ApplyReply =
  | { readonly status: 200; readonly body: ApplyAnswer }
  | { readonly status: 409; readonly body: Conflict }
  | { readonly status: 422; readonly body: ErrorAnswer };

export type ApplyStep = 'entered' | 'committed' | 'loaded' | 'answered';

export interface ApplierFacts {
  readonly layout: Layout;
  readonly trees: TreeStore;
  readonly fence: Fence;
  readonly record: WorkerRecordFile;
  readonly watch: WorkerWatch;
  readonly loader: Loader;
  readonly waiters: Waiters;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** @throws when a plugin refuses the request. */
  readonly verify: (request: ApplyRequest) => Promise<void>;
  readonly applied: (answer: ApplyAnswer) => void;
  readonly onStep: (step: ApplyStep) => void;
}

type Verdict =
  | { readonly outcome: Exclude<ApplyAnswer['outcome'], 'rejected'>; readonly committed: boolean }
  | {
      readonly outcome: 'rejected';
      readonly stage: Stage;
      readonly message: string;
      readonly rolledBack: boolean;
    };

/** Applies, one after the other: each is a transaction over the files and the worker. */
export class Applier {
  readonly #facts: ApplierFacts;
  #queue: Promise<unknown> = Promise.resolve();
  #pending: { readonly dueAt: number; readonly timer: NodeJS.Timeout } | undefined;

  constructor(facts: ApplierFacts) {
    this.#facts = facts;
    facts.signal.addEventListener('abort', () => clearTimeout(this.#pending?.timer), { once: true });
  }

  /** A reload that waits for its turn. */
  get pending(): { readonly dueAt: number } | undefined {
    return this.#pending;
  }

  apply(request: ApplyRequest): Promise<ApplyReply> {
    return this.#serially(() => this.#apply(request));
  }

  /** After a start: finishes what a killed predecessor left between putting files in place and loading them. */
  recover(): void {
    const current = this.#facts.trees.pointer('current');
    this.#collect();
    if (current !== undefined) this.#facts.trees.check(current);
    if (current !== undefined && this.#awaitsLoad(current)) this.#schedule(0);
  }

  /** Resolves when everything that was asked for is done. */
  async idle(): Promise<void> {
    await this.#queue;
  }

  #serially<T>(work: () => Promise<T>): Promise<T> {
    const run = this.#queue.then(() => {
      if (this.#facts.signal.aborted) throw new Cancelled('the agent is stopping');
      return work();
    });
    this.#queue = run.catch(() => {});
    return run;
  }

  async #apply(request: ApplyRequest): Promise<ApplyReply> {
    const { trees, fence, clock } = this.#facts;
    const startedAt = clock.now();
    const incoming = readIncoming(request);
    if ('problems' in incoming) {
      return {
        status: 422,
        body: { error: 'the message is broken', problems: incoming.problems.slice(0, 100) },
      };
    }
    const applied = trees.pointer('current')?.record.planId ?? null;
    const passage = fence.judge(request, applied);
    if (passage.kind === 'repeat') return { status: 200, body: passage.answer };
    if (passage.kind === 'conflict') return this.#conflict(passage.reason);
    const missing = request.mode === 'revert_lkg' ? [] : trees.missing(request.files, incoming.contents);
    if (missing.length > 0) return this.#conflict('missing', missing);
    const verdict = await this.#execute(incoming);
    const answer = this.#answer(verdict, incoming.skew, clock.now() - startedAt);
    this.#finish(request.planId, answer);
    return { status: 200, body: answer };
  }

  async #execute(incoming: Incoming): Promise<Verdict> {
    const { request } = incoming;
    try {
      await this.#facts.verify(request);
    } catch (error) {
      return rejected('verify', error);
    }
    try {
      this.#facts.fence.enter(request);
      this.#facts.onStep('entered');
      return request.mode === 'revert_lkg' ? await this.#revert() : await this.#replace(incoming);
    } catch (error) {
      this.#facts.signal.throwIfAborted();
      // A full disk, a read-only folder: nothing points at what was staged.
      return rejected('stage', error);
    }
  }

  async #replace(incoming: Incoming): Promise<Verdict> {
    const { trees, watch, signal } = this.#facts;
    const { request } = incoming;
    const loads = request.mode === 'reload' || incoming.skew.length > 0;
    const current = trees.pointer('current');
    if (!loads && current !== undefined && this.#same(current, request)) {
      this.#noteValidated(request, current);
      return { outcome: 'noop', committed: false };
    }
    const observed = await watch.observe(signal);
    if (loads) {
      const problem = await probeBinds(addresses(request), this.#heldBinds(observed));
      if (problem !== undefined) return rejected('bind', problem);
    }
    const awaited = current !== undefined && this.#awaitsLoad(current);
    const restoreTo = awaited ? current.record.restoreTo : (current?.id ?? null);
    const record = recordOf(request, { needsLoad: loads || awaited, restoreTo });
    const plan = Buffer.from(request.plan, 'base64');
    const tree = trees.stage({ record, contents: incoming.contents, plan });
    trees.point('current', tree);
    this.#facts.onStep('committed');
    if (loads) return this.#load(tree);
    if (awaited) return { outcome: 'scheduled', committed: true };
    if (observed.record?.treeId === current?.id) this.#followWorker(observed, tree);
    this.#noteValidated(request, tree);
    return { outcome: 'file_only', committed: true };
  }

  /** Loads now, or at the end of the interval since the last reload. */
  async #load(tree: Tree): Promise<Verdict> {
    const { loader, trees } = this.#facts;
    const waitMs = loader.waitMs();
    if (waitMs > 0) {
      this.#schedule(waitMs);
      return { outcome: 'scheduled', committed: true };
    }
    this.#unschedule();
    const result = await loader.load(tree, trees.tree(tree.record.restoreTo ?? ''));
    this.#facts.onStep('loaded');
    if (result.kind === 'loaded') return { outcome: 'reload', committed: true };
    return { ...rejected('reload', result.message), rolledBack: true };
  }

  async #revert(): Promise<Verdict> {
    const { trees, loader, watch, signal } = this.#facts;
    const current = trees.pointer('current');
    const lkg = trees.pointer('lkg');
    if (lkg === undefined) return rejected('lkg', 'no file set was ever loaded: there is no last known good');
    const drift = trees.check(lkg);
    if (drift.length > 0)
      return rejected('lkg', `the last known good was changed on the disk: ${drift.join(', ')}`);
    const observed = await watch.observe(signal);
    if (current?.id === lkg.id && observed.record?.treeId === lkg.id)
      return { outcome: 'noop', committed: false };
    this.#unschedule();
    trees.point('current', lkg);
    this.#facts.onStep('committed');
    if (observed.record?.treeId === lkg.id) return { outcome: 'file_only', committed: true };
    const result = await loader.load(lkg, current);
    this.#facts.onStep('loaded');
    if (result.kind === 'loaded') return { outcome: 'reload', committed: true };
    return { ...rejected('reload', result.message), rolledBack: true };
  }

  #schedule(ms: number): void {
    if (this.#pending !== undefined) return;
    const timer = setTimeout(() => {
      this.#serially(() => this.#loadPending()).catch((error: unknown) => {
        if (!this.#facts.signal.aborted) this.#facts.log.error({ err: error }, 'the scheduled reload failed');
      });
    }, ms);
    this.#pending = { dueAt: this.#facts.clock.now() + ms, timer };
  }

  #unschedule(): void {
    clearTimeout(this.#pending?.timer);
    this.#pending = undefined;
  }

  async #loadPending(): Promise<void> {
    const { trees, watch, clock, signal } = this.#facts;
    // An apply that ran since may have done it already.
    if (this.#pending === undefined) return;
    this.#unschedule();
    const startedAt = clock.now();
    const tree = trees.pointer('current');
    if (tree === undefined || !this.#awaitsLoad(tree)) return;
    const observed = await watch.observe(signal);
    if (observed.record?.treeId === tree.id) trees.point('lkg', tree);
    const verdict: Verdict =
      observed.record?.treeId === tree.id ? { outcome: 'reload', committed: true } : await this.#load(tree);
    if (verdict.outcome === 'scheduled') return;
    this.#finish(tree.record.planId, this.#answer(verdict, [], clock.now() - startedAt, 1));
  }

  #answer(verdict: Verdict, skew: readonly string[], durationMs: number, bump = 0): ApplyAnswer {
    const { trees, fence } = this.#facts;
    const refused = verdict.outcome === 'rejected';
    const counts = refused ? bump : Number(verdict.committed);
    return {
      outcome: verdict.outcome,
      planId: trees.pointer('current')?.record.planId ?? null,
      generation: fence.generation + counts,
      ...(refused && { stage: verdict.stage, message: verdict.message }),
      rolledBack: refused && verdict.rolledBack,
      fellBack: false,
      skew: [...skew],
      durationMs: Math.max(0, Math.round(durationMs)),
    };
  }

  #finish(planId: string | null, answer: ApplyAnswer): void {
    const { fence, waiters, applied, log } = this.#facts;
    try {
      fence.answered(planId, answer);
    } catch (error) {
      // The answer still goes out; a repeat would run once more and end the same.
      log.error({ err: error }, 'cannot keep the answer of an apply');
    }
    this.#facts.onStep('answered');
    this.#collect();
    waiters.wake();
    applied(answer);
  }

  #conflict(reason: Conflict['reason'], paths?: readonly string[]): ApplyReply {
    const { trees, fence } = this.#facts;
    const applied = trees.pointer('current')?.record.planId ?? null;
    return {
      status: 409,
      body: { reason, applied, token: fence.token, ...(paths && { paths: [...paths] }) },
    };
  }

  /** Put in place to be loaded, and not known to be. */
  #awaitsLoad(tree: Tree): boolean {
    return tree.record.needsLoad && this.#facts.record.value?.treeId !== tree.id;
  }

  #same(tree: Tree, request: ApplyRequest): boolean {
    if (tree.record.planId !== request.planId || this.#awaitsLoad(tree)) return false;
    const wanted = new Map(request.files.map(({ path, digest }) => [path, digest]));
    return (
      wanted.size === tree.record.files.length &&
      tree.record.files.every(({ path, digest }) => wanted.get(path) === digest) &&
      this.#facts.trees.drift(tree).length === 0
    );
  }

  #noteValidated(request: ApplyRequest, tree: Tree): void {
    if (request.validated !== undefined && request.validated === tree.record.planId) {
      this.#facts.trees.point('lkg', tree);
    }
  }

  /** The worker did not have to load the new files: it is in step with them as it was with the former ones. */
  #followWorker(observed: Observation, tree: Tree): void {
    if (observed.record !== undefined) this.#facts.record.set({ ...observed.record, treeId: tree.id });
  }

  /** What HAProxy holds already: the addresses of the tree that it runs, or of any that it may run. */
  #heldBinds(observed: Observation): string[] {
    const { trees } = this.#facts;
    const known = observed.record === undefined ? undefined : trees.tree(observed.record.treeId);
    const candidates = known === undefined ? [trees.pointer('current'), trees.pointer('lkg')] : [known];
    return candidates.flatMap((tree) => tree?.record.binds ?? []);
  }

  #collect(): void {
    const { trees, record, log } = this.#facts;
    try {
      trees.collect([trees.pointer('current')?.record.restoreTo, record.value?.treeId]);
    } catch (error) {
      log.warn({ err: error }, 'cannot remove old trees');
    }
  }
}

function rejected(stage: Stage, cause: unknown): Extract<Verdict, { outcome: 'rejected' }> {
  const message = cause instanceof Error ? cause.message : String(cause);
  return { outcome: 'rejected', stage, message, rolledBack: false };
}

function addresses(request: ApplyRequest): string[] {
  return request.binds.map(({ address }) => address);
}

function recordOf(request: ApplyRequest, loading: Pick<TreeRecord, 'needsLoad' | 'restoreTo'>): TreeRecord {
  return {
    planId: request.planId,
    textId: request.textId,
    binds: addresses(request),
    files: request.files.map(({ path, digest, size, kind, reloadOnChange }) => ({
      path,
      digest,
      size,
      kind,
      reloadOnChange,
    })),
    ...loading,
  };
}

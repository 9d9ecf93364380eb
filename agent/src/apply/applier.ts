import { Cancelled, type Clock } from '@haptic/core/contract';
import type { ApplyMode } from '../hooks.ts';
import { INVARIANT_VIOLATIONS } from '../metrics/definitions.ts';
import type { ApplyAnswer, ApplyRequest, Conflict } from '../protocol/index.ts';
import type { ApplyReply } from '../services.ts';
import type { Fence } from './fence.ts';
import { keepAsLastKnownGood } from './last-known-good.ts';
import { readIncoming, type CompleteIncoming, type Incoming } from './incoming.ts';
import { Rest } from './rest.ts';
import { ReloadSchedule } from './reload-schedule.ts';
import { supportedOperations } from './supported-operations.ts';
import { FilePatcher } from './file-patcher.ts';
import { wantedSet } from './wanted-set.ts';
import type { Waiters } from './waiters.ts';
import { rejected, Transactions, type TransactionFacts, type ApplyResult } from './transactions.ts';
import type { Observation } from './worker-watch.ts';

export interface ApplierFacts extends Omit<TransactionFacts, 'reloads'> {
  readonly fence: Fence;
  readonly waiters: Waiters;
  readonly clock: Clock;
  /** @throws when a plugin refuses the request. */
  readonly verify: (request: ApplyRequest) => Promise<void>;
  readonly applied: (answer: ApplyAnswer, mode: ApplyMode) => void;
}

/** Applies, one after the other: each is a transaction over the files and the worker. */
export class Applier {
  readonly #facts: ApplierFacts;
  readonly #schedule: ReloadSchedule;
  readonly #transactions: Transactions;
  readonly #patcher: FilePatcher;
  readonly #rest = new Rest();
  #queue: Promise<unknown> = Promise.resolve();

  constructor(facts: ApplierFacts) {
    this.#facts = facts;
    this.#schedule = new ReloadSchedule(facts.clock, facts.signal);
    this.#patcher = new FilePatcher(facts.trees);
    this.#transactions = new Transactions({
      ...facts,
      reloads: { later: (ms) => this.#scheduleLoad(ms), cancel: () => this.#schedule.cancel() },
    });
  }

  /** When the reload that waits for its turn is due, by the monotonic clock. */
  get reloadDueAt(): number | undefined {
    return this.#schedule.dueAt;
  }

  apply(request: ApplyRequest): Promise<ApplyReply> {
    return this.#serially(() => this.#apply(request));
  }

  /** After a start: finishes what a killed predecessor left between putting files in place and loading them. */
  recover(): void {
    const { trees, changes } = this.#facts;
    const current = trees.pointer('current');
    this.#collect();
    if (current === undefined) return;
    trees.check(current);
    changes.resume(current);
    if (this.#transactions.awaitsLoad(current)) this.#scheduleLoad(0);
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
    if ('problems' in incoming) return broken(incoming.problems);
    const current = trees.pointer('current')?.record;
    const passage = fence.judge(request, current?.planId ?? null);
    if (passage.kind === 'repeat') return { status: 200, body: passage.answer };
    if (passage.kind === 'conflict') return this.#conflict(passage.reason);
    const reading = wantedSet(request, current);
    if (reading.kind === 'broken') return broken(reading.problems);
    if (reading.kind === 'other_base') return this.#conflict('unknown_baseline');
    // HAProxy is asked who it is while the files are made.
    const meeting = this.#meet(incoming);
    try {
      const contents = new Map([...incoming.contents, ...this.#patcher.patched(request)]);
      const complete = { ...incoming, contents, set: reading.set };
      const missing = this.#missing(complete);
      if (missing !== undefined) return this.#conflict('missing', missing);
      const observed = await meeting;
      const skew = [...incoming.skew, ...unsupported(incoming, observed)];
      const result = await this.#execute({ ...complete, skew }, observed);
      const answer = this.#answer(result, skew, clock.now() - startedAt);
      this.#finish(() => fence.answered(request, answer), answer, modeOf(request));
      return { status: 200, body: answer };
    } finally {
      (await meeting).connection?.end();
      this.#rest.begin();
    }
  }

  /** Over a connection that stays, where there is something to say. */
  #meet({ ops, inPlaceOps }: Incoming): Promise<Observation> {
    const { watch, signal } = this.#facts;
    return ops.length + inPlaceOps.length > 0 ? watch.meetWorker(signal) : watch.observeWorker(signal);
  }

  async #execute(incoming: CompleteIncoming, observed: Observation): Promise<ApplyResult> {
    const { request } = incoming;
    try {
      await this.#facts.verify(request);
    } catch (error) {
      return rejected('verify', error);
    }
    try {
      this.#facts.fence.enter(request);
      this.#facts.onStep('entered');
      return request.mode === 'revert_lkg'
        ? await this.#transactions.revert(observed)
        : await this.#transactions.replace(incoming, observed);
    } catch (error) {
      this.#facts.signal.throwIfAborted();
      // A full disk, a read-only folder: nothing points at what was staged.
      return rejected('stage', error);
    }
  }

  #scheduleLoad(ms: number): void {
    this.#schedule.set(ms, () => {
      this.#serially(() => this.#loadPending()).catch((error: unknown) => {
        if (!this.#facts.signal.aborted) this.#unexpected(error, 'the scheduled reload failed');
      });
    });
  }

  async #loadPending(): Promise<void> {
    const { trees, watch, fence, clock, log, signal } = this.#facts;
    // An apply that ran since may have done it already.
    if (this.#schedule.dueAt === undefined) return;
    this.#schedule.cancel();
    const startedAt = clock.now();
    const tree = trees.pointer('current');
    if (tree === undefined || !this.#transactions.awaitsLoad(tree)) return;
    const observed = await watch.observe(signal);
    if (observed.record?.treeId === tree.id) keepAsLastKnownGood(trees, tree, log);
    const result: ApplyResult =
      observed.record?.treeId === tree.id
        ? { outcome: 'reload', committed: true }
        : await this.#transactions.load(tree);
    const answer = this.#answer(result, [], clock.now() - startedAt, 1);
    this.#finish(() => fence.loadEnded(tree.record.planId, answer), answer, 'scheduled');
  }

  #answer(result: ApplyResult, skew: readonly string[], durationMs: number, bump = 0): ApplyAnswer {
    const { trees, fence } = this.#facts;
    const refused = result.outcome === 'rejected';
    const counts = refused ? bump : Number(result.committed);
    return {
      outcome: result.outcome,
      planId: trees.pointer('current')?.record.planId ?? null,
      generation: fence.generation + counts,
      ...(refused && { stage: result.stage }),
      ...wordsOf(result),
      rolledBack: refused && result.rolledBack,
      fellBack: result.fellBack !== undefined,
      skew: [...skew],
      durationMs: Math.max(0, Math.round(durationMs)),
    };
  }

  #finish(keep: () => void, answer: ApplyAnswer, mode: ApplyMode): void {
    const { waiters, applied } = this.#facts;
    try {
      keep();
    } catch (error) {
      // The answer still goes out; a repeat would run once more and end the same.
      this.#unexpected(error, 'cannot keep the answer of an apply');
    }
    this.#facts.onStep('answered');
    this.#collect();
    waiters.wake();
    applied(answer, mode);
  }

  #unexpected(error: unknown, message: string): void {
    this.#facts.meter.count(INVARIANT_VIOLATIONS);
    this.#facts.log.error({ err: error }, message);
  }

  /** What is needed and neither sent nor held. */
  #missing({
    request,
    chunks,
    contents,
    set,
  }: CompleteIncoming): Pick<Conflict, 'paths' | 'chunks'> | undefined {
    if (request.mode === 'revert_lkg') return undefined;
    const paths = this.#facts.trees.missing(request.files, contents);
    const parts = this.#facts.plans.missing(set.plan, chunks);
    return paths.length + parts.length === 0 ? undefined : { paths, chunks: parts };
  }

  #conflict(reason: Conflict['reason'], missing?: Pick<Conflict, 'paths' | 'chunks'>): ApplyReply {
    const { trees, fence } = this.#facts;
    const applied = trees.pointer('current')?.record.planId ?? null;
    return {
      status: 409,
      body: { reason, applied, token: fence.token, ...missing },
    };
  }

  #collect(): void {
    const { trees, plans, record, log } = this.#facts;
    try {
      trees.collect([trees.pointer('current')?.record.restoreTo, record.value?.treeId]);
      plans.collect(() => trees.all().flatMap((tree) => tree.record.plan));
    } catch (error) {
      log.warn({ err: error }, 'cannot remove old trees');
    }
  }
}

function broken(problems: readonly string[]): ApplyReply {
  return { status: 422, body: { error: 'the message is broken', problems: problems.slice(0, 100) } };
}

function modeOf({ mode }: ApplyRequest): ApplyMode {
  return mode === 'auto' || mode === 'reload' || mode === 'revert_lkg' ? mode : 'unknown';
}

function wordsOf(result: ApplyResult): Pick<ApplyAnswer, 'message'> {
  const message = result.outcome === 'rejected' ? result.message : result.fellBack;
  return message === undefined ? {} : { message };
}

/** Operations that this HAProxy does not have. Changes of endpoints are left out where they cannot be made at once. */
function unsupported({ ops }: Incoming, { worker }: Observation): string[] {
  const supported = new Set<string>(supportedOperations(worker?.version));
  return [...new Set(ops.map(({ op }) => op))].filter((op) => !supported.has(op)).map((op) => `op ${op}`);
}

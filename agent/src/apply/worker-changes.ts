import type { Clock, Meter, Operation } from '@haptic/core/contract';
import { SocketFailure } from '../haproxy/exchange.ts';
import type { WorkerConnection } from '../haproxy/worker-connection.ts';
import { workerIdentity } from '../haproxy/worker-socket.ts';
import type { Tree } from '../files/tree.ts';
import type { Layout } from '../protocol/index.ts';
import type { DeferredDelete } from '../runtime/deferred-delete.ts';
import type { DeferredDeletes } from '../runtime/deferred-deletes.ts';
import { commandLimits } from '../runtime/limits.ts';
import { runOperations, type RunResult } from '../runtime/run-operations.ts';
import type { WorkerRecord, WorkerRecordFile } from './worker-record.ts';
import type { Step } from '../steps.ts';
import type { Observation } from './worker-watch.ts';

export interface WorkerChangesFacts {
  readonly layout: Layout;
  readonly record: WorkerRecordFile;
  readonly deferred: DeferredDeletes;
  readonly clock: Clock;
  readonly meter: Meter;
  /** How long a request may still read what a deferred removal takes out of a map, milliseconds. */
  readonly longestResponse: number;
  readonly signal: AbortSignal;
  readonly onStep: (step: Step) => void;
}

/** A worker that answered, and what it is known to run. */
interface KnownWorker {
  readonly version: string;
  readonly record: WorkerRecord;
  readonly connection: WorkerConnection | undefined;
}

/** Brings the running worker in step with files that are in place. */
export class WorkerChanges {
  readonly #facts: WorkerChangesFacts;

  constructor(facts: WorkerChangesFacts) {
    this.#facts = facts;
  }

  /** All of them, or why not: then what the worker runs is not known any more. */
  async run(operations: readonly Operation[], tree: Tree, observed: Observation): Promise<RunResult> {
    const worker = known(observed);
    if (worker === undefined) return { kind: 'unknown', message: 'HAProxy is not the one that was known' };
    const result = await this.#run(operations, tree, worker);
    if (result.kind !== 'done') return result;
    // Over one connection all of it went to the worker that was known.
    if (worker.connection === undefined && (await this.#pid()) !== worker.record.pid) {
      return { kind: 'unknown', message: 'another HAProxy worker took over meanwhile' };
    }
    this.follow(worker.record, tree, result.deletes);
    return result;
  }

  /** What can be done before a reload that has to wait does it properly: a refusal is of no account. */
  async runInPlace(operations: readonly Operation[], tree: Tree, observed: Observation): Promise<void> {
    const worker = known(observed);
    if (worker === undefined) return;
    const deletes: DeferredDelete[] = [];
    for (const operation of operations) {
      const result = await this.#run([operation], tree, worker);
      if (result.kind === 'unknown') break;
      if (result.kind === 'done') deletes.push(...result.deletes);
    }
    this.#remember({ ...worker.record }, deletes);
  }

  /** The worker is in step with this tree now. */
  follow(record: WorkerRecord, tree: Tree, deletes: readonly DeferredDelete[] = []): void {
    this.#remember({ ...record, treeId: tree.id }, deletes);
  }

  /**
   * After a start that finds this tree in place. What waited to be deleted goes on only where no operation can have run since it was
   * noted: one that a killed predecessor had no time to note may have brought some of it back.
   */
  resume(tree: Tree): void {
    const { record, deferred } = this.#facts;
    const { value } = record;
    if (value === undefined || value.treeId === null) return;
    const { needsLoad, touchesWorker, restoreTo } = tree.record;
    const isUntouched = value.treeId === restoreTo && !touchesWorker;
    if (value.treeId !== tree.id && !isUntouched) return;
    // Where nothing was to be loaded either, the worker is in step with the new files, too.
    if (isUntouched && !needsLoad) record.learn({ ...value, treeId: tree.id });
    deferred.add(value, value.deferred);
  }

  /** What the worker runs is not known until it has loaded something. */
  forget(): void {
    const { value } = this.#facts.record;
    if (value !== undefined) this.#facts.record.set({ ...value, treeId: null });
  }

  /** Before anything is deleted: a restart goes on with it. */
  #remember(record: WorkerRecord, deletes: readonly DeferredDelete[]): void {
    const { deferred } = this.#facts;
    this.#facts.record.learn({ ...record, deferred: [...deferred.items, ...deletes] });
    if (deletes.length > 0) deferred.add(record, deletes);
  }

  #run(operations: readonly Operation[], tree: Tree, worker: KnownWorker): Promise<RunResult> {
    const { layout, deferred, clock, meter, longestResponse, signal, onStep } = this.#facts;
    return runOperations(operations, {
      line: {
        socket: layout.workerSocket,
        limits: commandLimits(worker.version),
        signal,
        connection: worker.connection,
      },
      deferred,
      folder: tree.folder,
      mapKeysDue: clock.wall() + longestResponse,
      onStep,
      meter,
    });
  }

  async #pid(): Promise<number | undefined> {
    try {
      return (await workerIdentity(this.#facts.layout.workerSocket, this.#facts.signal)).pid;
    } catch (error) {
      if (error instanceof SocketFailure) return undefined;
      throw error;
    }
  }
}

function known({ worker, record, connection }: Observation): KnownWorker | undefined {
  return worker === undefined || record === undefined
    ? undefined
    : { version: worker.version, record, connection };
}

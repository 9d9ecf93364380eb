import type { Layout } from '../protocol/index.ts';
import { SocketFailure } from '../haproxy/exchange.ts';
import { showProcesses, type Processes } from '../haproxy/master-socket.ts';
import { convers, WorkerConnection } from '../haproxy/worker-connection.ts';
import { workerIdentity, type WorkerIdentity } from '../haproxy/worker-socket.ts';
import type { TreeStore } from '../files/tree-store.ts';
import { readStartRecord } from '../supervisor/start-record.ts';
import type { WorkerRecord, WorkerRecordFile } from './worker-record.ts';

export interface Observation {
  readonly worker: WorkerIdentity | undefined;
  readonly master: number | undefined;
  /** What that worker is known to run; undefined when it is another one than the agent knows. */
  readonly record: WorkerRecord | undefined;
  /** To this worker, for whoever asked for one. */
  readonly connection?: WorkerConnection;
}

/** Looks which processes are there and works out what the worker runs. */
export class WorkerWatch {
  readonly #layout: Layout;
  readonly #trees: TreeStore;
  readonly #record: WorkerRecordFile;
  readonly #changed: (pid: number) => void;
  #pid = 0;
  /** Of the worker that answered last. */
  #version: string | undefined;

  /** `changed` is told when another worker answers than at the last look; 0: none does. */
  constructor(layout: Layout, trees: TreeStore, record: WorkerRecordFile, changed: (pid: number) => void) {
    this.#layout = layout;
    this.#trees = trees;
    this.#record = record;
    this.#changed = changed;
  }

  /** Of the worker that answered last. */
  get pid(): number {
    return this.#pid;
  }

  /** What matters to an apply: the master is only asked when the worker is not the one that is known. */
  async observeWorker(signal?: AbortSignal): Promise<Observation> {
    const worker = await unlessSilent(workerIdentity(this.#layout.workerSocket, signal));
    const known = this.#record.value;
    if (worker === undefined || !isWorker(known, worker)) return await this.observe(signal);
    this.#note(worker);
    return { worker, master: undefined, record: known };
  }

  /** The same, over a connection that stays open to that worker: the caller ends it. */
  async meetWorker(signal?: AbortSignal): Promise<Observation> {
    if (this.#version === undefined || !convers(this.#version)) return await this.observeWorker(signal);
    const connection = await unlessSilent(WorkerConnection.open(this.#layout.workerSocket, signal));
    const worker = connection?.identity;
    const known = this.#record.value;
    if (worker === undefined || !isWorker(known, worker)) {
      connection?.end();
      return await this.observe(signal);
    }
    this.#note(worker);
    return { worker, master: undefined, record: known, ...(connection && { connection }) };
  }

  async observe(signal?: AbortSignal): Promise<Observation> {
    const [worker, processes] = await Promise.all([
      unlessSilent(workerIdentity(this.#layout.workerSocket, signal)),
      unlessSilent(showProcesses(this.#layout.masterSocket, signal)),
    ]);
    this.#note(worker);
    if (worker === undefined) return { worker, master: processes?.master, record: undefined };
    this.#learnColdStart(worker, processes);
    const known = this.#record.value;
    return { worker, master: processes?.master, record: isWorker(known, worker) ? known : undefined };
  }

  #note(worker: WorkerIdentity | undefined): void {
    const pid = worker?.pid ?? 0;
    this.#version = worker?.version;
    if (pid === this.#pid) return;
    this.#pid = pid;
    this.#changed(pid);
  }

  /** A worker that never reloaded runs the tree that the supervisor noted when it started HAProxy. */
  #learnColdStart(worker: WorkerIdentity, processes: Processes | undefined): void {
    if (processes === undefined || processes.reloads > 0 || isWorker(this.#record.value, worker)) return;
    const started = readStartRecord(this.#layout.startRecord);
    if (started?.master !== processes.master || started.treeId === null) return;
    const tree = this.#trees.tree(started.treeId);
    if (tree === undefined) return;
    const { pid, startedAt } = worker;
    this.#record.learn({ pid, startedAt, planId: tree.record.planId, treeId: tree.id, deferred: [] });
  }
}

/** Pids alone are used again: in a container of its own each HAProxy may have the same. */
function isWorker(
  record: WorkerRecord | undefined,
  { pid, startedAt }: WorkerIdentity,
): record is WorkerRecord {
  return record?.pid === pid && record.startedAt === startedAt;
}

async function unlessSilent<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof SocketFailure) return undefined;
    throw error;
  }
}

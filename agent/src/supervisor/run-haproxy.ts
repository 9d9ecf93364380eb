import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '@haptic/core/contract';
import { lockFolder } from '../files/folder-lock.ts';
import { makeFolder } from '../files/make-folder.ts';
import { TreeStore } from '../files/tree-store.ts';
import { probeBinds } from '../haproxy/bind-probe.ts';
import type { Tree } from '../files/tree.ts';
import { showProcesses } from '../haproxy/master-socket.ts';
import { workerIdentity } from '../haproxy/worker-socket.ts';
import { layout, type Layout } from '../protocol/index.ts';
import { stageBootstrap } from './bootstrap.ts';
import { checkTree } from './check-tree.ts';
import { killGroup, startHaproxy, stopHaproxy, type HaproxyProcess } from './haproxy-process.ts';
import { adoptOrEnd } from './leftovers.ts';
import { isAlive } from './processes.ts';
import { removeStartRecord, writeStartRecord } from './start-record.ts';

export interface HaproxyOptions {
  readonly binary: string;
  readonly baseDir: string;
  readonly socketDir: string;
  readonly log: Log;
  /** Stops HAProxy when aborted, and `runHaproxy` resolves. */
  readonly signal: AbortSignal;
  /** How long requests may finish after the signal, milliseconds, 30 s. */
  readonly drain?: number;
  /** Aborted when the parent is gone: HAProxy is ended at once. */
  readonly parentGone?: AbortSignal;
  /** Addresses that answer 503 before the first plan. */
  readonly bootstrapBinds?: readonly string[];
  /** Of `haproxy -c` before a start, milliseconds, 30 s. */
  readonly checkTimeout?: number;
}

/** An HAProxy that ran so long did not die of its configuration. */
const STEADY_MS = 10_000;
const LONGEST_PAUSE_MS = 5_000;
/** So long what loads may fail to start (an address in use) before the bootstrap configuration has its turn. */
const LONGEST_FAILING_MS = 10_000;

/**
 * Keeps HAProxy running on what is applied, until the signal aborts.
 *
 * @throws Refused, naming it, for a program or folder that will not do, or for a socket folder whose HAProxy another one looks after.
 */
export async function runHaproxy(options: HaproxyOptions): Promise<void> {
  makeFolder(options.baseDir);
  // The sockets are what two of them would take from each other.
  await using _lock = await lockFolder(options.socketDir, 'haptic haproxy');
  await new Supervisor(options).run();
}

/** What is known of one attempt to start HAProxy. */
interface Start {
  readonly applied: Tree | undefined;
  /** What was put in place by it, or was there. */
  placed: Tree | undefined;
}

class Supervisor {
  readonly #options: HaproxyOptions;
  readonly #layout: Layout;
  readonly #trees: TreeStore;
  readonly #log: Log;
  readonly #stop: AbortSignal;
  #failingSince: number | undefined;
  /** Since the last start that went well: addresses of trees that did not start, and what was said of them. */
  readonly #failedBinds = new Set<string>();
  #told = '';

  constructor(options: HaproxyOptions) {
    this.#options = options;
    this.#log = options.log;
    this.#layout = layout(options.baseDir, options.socketDir);
    this.#trees = new TreeStore({ baseDir: options.baseDir, maker: 'supervisor' });
    this.#stop = AbortSignal.any([options.signal, ...(options.parentGone ? [options.parentGone] : [])]);
  }

  async run(): Promise<void> {
    let pause = 0;
    let haproxy = await adoptOrEnd(this.#layout, this.#log);
    while (!this.#stop.aborted) {
      const startedAt = performance.now();
      haproxy ??= await this.#startBest();
      if (haproxy !== undefined) await this.#untilEnd(haproxy);
      haproxy = undefined;
      if (this.#stop.aborted) break;
      // The first death is answered at once: every moment without HAProxy is requests lost.
      if (performance.now() - startedAt > STEADY_MS) pause = 0;
      await sleep(pause, undefined, { signal: this.#stop }).catch(() => {});
      pause = Math.min(LONGEST_PAUSE_MS, Math.max(100, pause * 2));
    }
  }

  async #untilEnd(haproxy: HaproxyProcess): Promise<void> {
    const ended = await Promise.race([haproxy.exited, aborted(this.#stop)]);
    if (ended === undefined) {
      const drain = this.#options.parentGone?.aborted === true ? 0 : (this.#options.drain ?? 30_000);
      this.#log.info({ drain }, 'stopping HAProxy');
      await stopHaproxy(haproxy, drain);
    } else {
      this.#log.error({ master: haproxy.pid, ended }, 'HAProxy died; starting it again');
    }
    // Workers end with their master; a stopped or hanging one would hold the addresses.
    killGroup(haproxy.pid);
    removeStartRecord(this.#layout.startRecord);
  }

  /** Starts HAProxy on the first tree that loads: what is applied, the last known good, or the bootstrap configuration. */
  async #startBest(): Promise<HaproxyProcess | undefined> {
    const applied = this.#trees.pointer('current');
    const start: Start = { applied, placed: applied };
    const loadable = new Set<Tree>();
    // Each is looked at when its turn comes: a check of thousands of certificates takes seconds without HAProxy.
    for (const tree of new Set([applied, this.#trees.pointer('lkg')])) {
      if (tree === undefined || this.#stop.aborted || !(await this.#loads(tree))) continue;
      loadable.add(tree);
      const haproxy = await this.#startOn(tree, start);
      if (haproxy !== undefined) return haproxy;
    }
    const failingMs = performance.now() - (this.#failingSince ?? performance.now());
    if (loadable.size === 0 || failingMs > LONGEST_FAILING_MS) {
      const binds = this.#options.bootstrapBinds ?? [];
      const haproxy = await this.#startOn(stageBootstrap(this.#trees, this.#layout, binds), start);
      if (haproxy !== undefined) return haproxy;
    }
    // What loads but does not start may start later: nothing is given up yet.
    this.#failingSince ??= performance.now();
    if (applied !== undefined && loadable.has(applied) && this.#trees.pointer('current') === start.placed) {
      this.#trees.point('current', applied);
    }
    return undefined;
  }

  /** Puts the tree in place and starts HAProxy on it; undefined when it does not start. */
  async #startOn(tree: Tree, start: Start): Promise<HaproxyProcess | undefined> {
    if (this.#stop.aborted || (await this.#isHeldUp(tree))) return undefined;
    // Unless the agent put something newer in place meanwhile.
    if (tree !== start.placed && this.#trees.pointer('current')?.id === start.placed?.id) {
      if (start.applied === undefined)
        this.#log.info({}, 'nothing was applied yet, starting on the bootstrap configuration');
      else this.#log.warn({ plan: tree.record.planId }, 'falling back to another file set');
      this.#trees.point('current', tree);
      start.placed = tree;
    }
    const haproxy = await this.#start();
    if (haproxy === undefined) {
      for (const address of tree.record.binds) this.#failedBinds.add(address);
      await this.#isHeldUp(tree);
      return undefined;
    }
    this.#failingSince = undefined;
    this.#failedBinds.clear();
    this.#told = '';
    return haproxy;
  }

  /**
   * Whether an address that kept HAProxy from starting is still not to be had: each start would try it for two seconds. Not asked of
   * a first start, which may wait for an HAProxy that is ending to let go of it.
   */
  async #isHeldUp({ record: { planId, binds } }: Tree): Promise<boolean> {
    const suspects = binds.filter((address) => this.#failedBinds.has(address));
    const problem = await probeBinds(suspects, []);
    if (problem !== undefined && problem !== this.#told)
      this.#log.error({ plan: planId, problem }, 'HAProxy cannot start until it has its address; trying on');
    this.#told = problem ?? this.#told;
    return problem !== undefined;
  }

  async #loads(tree: Tree): Promise<boolean> {
    const { binary, checkTimeout = 30_000 } = this.#options;
    const words = await checkTree(binary, tree.folder, checkTimeout);
    if (words !== undefined)
      this.#log.error({ plan: tree.record.planId, words }, 'this file set does not load');
    return words === undefined;
  }

  /** Starts HAProxy on `current`; undefined when it ends before it serves. */
  async #start(): Promise<HaproxyProcess | undefined> {
    const before = this.#trees.pointer('current')?.id;
    const haproxy = await startHaproxy(this.#options.binary, this.#layout, this.#trees.workingDirectory);
    const record = { master: haproxy.pid, parent: process.ppid };
    writeStartRecord(this.#layout.startRecord, { ...record, treeId: null });
    const ended = await Promise.race([haproxy.exited, this.#serving(haproxy)]);
    if (ended !== undefined) {
      this.#log.error({ ended }, 'HAProxy did not start');
      killGroup(haproxy.pid);
      removeStartRecord(this.#layout.startRecord);
      return undefined;
    }
    const after = this.#trees.pointer('current')?.id;
    // An apply in between: which of the two it read is not known, and the agent's reload decides.
    if (before === after && before !== undefined) {
      writeStartRecord(this.#layout.startRecord, { ...record, treeId: before });
    }
    this.#log.info({ master: haproxy.pid }, 'HAProxy serves');
    return haproxy;
  }

  /** Resolves when a worker of this master answers, or after 10 s: an HAProxy that runs is never ended for silence. */
  async #serving({ pid: master, exited }: HaproxyProcess): Promise<string | undefined> {
    const deadline = performance.now() + 10_000;
    while (performance.now() < deadline && !this.#stop.aborted) {
      if (!isAlive(master)) return await exited;
      try {
        const [processes, worker] = await Promise.all([
          showProcesses(this.#layout.masterSocket),
          workerIdentity(this.#layout.workerSocket),
        ]);
        if (processes?.master === master && processes.workers.includes(worker.pid)) return undefined;
      } catch {
        // Not yet.
      }
      await sleep(20);
    }
    this.#log.warn({ master }, 'HAProxy runs but does not answer on its sockets');
    return undefined;
  }
}

function aborted(signal: AbortSignal): Promise<undefined> {
  if (signal.aborted) return Promise.resolve(undefined);
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(undefined), { once: true }));
}

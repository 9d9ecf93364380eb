import type { Clock, Log } from '@haptic/core/contract';
import { SocketFailure } from '../haproxy/exchange.ts';
import { workerIdentity, type WorkerIdentity } from '../haproxy/worker-socket.ts';
import { OperationRefused } from './command.ts';
import { idOf, type DeferredDelete } from './deferred-delete.ts';
import { deleteOne } from './deletion.ts';
import { commandLimits } from './limits.ts';
import { Turns } from './turns.ts';

export interface DeferredFacts {
  /** The worker's socket. */
  readonly socket: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** Told whenever something has gone. */
  readonly changed: () => void;
}

/** Pids alone are used again: in a container of its own each HAProxy may have the same. */
export type DeferredOwner = Pick<WorkerIdentity, 'pid' | 'startedAt'>;

interface Entry {
  readonly item: DeferredDelete;
  attempts: number;
  /** Monotonic. */
  notBefore: number;
  running: { readonly stopWaiting: AbortController; readonly ended: Promise<void> } | undefined;
}

/** HAProxy takes ten connections to its socket at once; the agent itself and people need some. */
const AT_ONCE = 3;
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 10_000;
/** A worker that takes longer to answer hangs, and is not waited for. */
const LONGEST_END_MS = 2_000;

/**
 * Deletes in the background what the applies took out of use, each as soon as its last connection has ended, however long that
 * takes: a reload brings all of them to an end. Belongs to one worker; another one has nothing of what is to be deleted.
 */
export class DeferredDeletes {
  readonly #facts: DeferredFacts;
  readonly #entries = new Map<string, Entry>();
  #worker: DeferredOwner = { pid: 0, startedAt: 0 };
  #turns = new Turns();
  #timer: NodeJS.Timeout | undefined;
  #isPaused = false;

  constructor(facts: DeferredFacts) {
    this.#facts = facts;
    facts.signal.addEventListener('abort', () => clearTimeout(this.#timer), { once: true });
  }

  /** Of whoever else changes the worker, or looks at it. Another worker has others: nobody waits for one that is gone. */
  get turns(): Turns {
    return this.#turns;
  }

  get names(): string[] {
    return [...this.#entries.keys()];
  }

  get items(): DeferredDelete[] {
    return [...this.#entries.values()].map(({ item }) => item);
  }

  /** For this worker; what is left for another one is forgotten. */
  add({ pid, startedAt }: DeferredOwner, items: readonly DeferredDelete[]): void {
    const worker = { pid, startedAt };
    if (!isSame(worker, this.#worker)) this.drop();
    this.#worker = worker;
    const { clock } = this.#facts;
    for (const item of items) {
      const wait = item.kind === 'map' ? item.due - clock.wall() : 0;
      this.#entries.set(idOf(item), {
        item,
        attempts: 0,
        notBefore: clock.now() + wait,
        running: undefined,
      });
    }
    this.#pump();
  }

  /** Takes one out because it is wanted again. Undefined when it has gone, or was never here. */
  async take(id: string): Promise<DeferredDelete | undefined> {
    const entry = this.#entries.get(id);
    entry?.running?.stopWaiting.abort();
    await entry?.running?.ended;
    if (entry === undefined || this.#entries.get(id) !== entry) return undefined;
    this.#entries.delete(id);
    return entry.item;
  }

  /**
   * Until `resume`, nothing is deleted; resolves when what is under way has ended. A worker that takes over in the middle of a
   * deletion may want what is deleted.
   */
  async pause(): Promise<void> {
    this.#isPaused = true;
    clearTimeout(this.#timer);
    const running = [...this.#entries.values()].flatMap((entry) => entry.running ?? []);
    if (running.length === 0) return;
    for (const { stopWaiting } of running) stopWaiting.abort();
    const { clock, signal } = this.#facts;
    const late = clock.sleep(LONGEST_END_MS, signal).catch(() => {});
    await Promise.race([Promise.all(running.map(({ ended }) => ended)), late]);
  }

  resume(): void {
    this.#isPaused = false;
    this.#pump();
  }

  /** Forgets all: the worker has loaded files that hold none of them. */
  drop(): void {
    for (const { running } of this.#entries.values()) running?.stopWaiting.abort();
    this.#entries.clear();
    this.#turns = new Turns();
    clearTimeout(this.#timer);
  }

  /** Starts what is due, and looks again when the next one is. */
  #pump(): void {
    clearTimeout(this.#timer);
    if (this.#isPaused || this.#facts.signal.aborted) return;
    const now = this.#facts.clock.now();
    const entries = [...this.#entries.values()];
    let free = AT_ONCE - entries.filter(({ running }) => running !== undefined).length;
    let next = Number.POSITIVE_INFINITY;
    for (const entry of entries) {
      if (entry.running !== undefined) continue;
      if (entry.notBefore > now) next = Math.min(next, entry.notBefore);
      else if (free > 0) {
        this.#start(entry);
        free -= 1;
      }
    }
    if (next < Number.POSITIVE_INFINITY) this.#timer = setTimeout(() => this.#pump(), next - now);
  }

  #start(entry: Entry): void {
    const stopWaiting = new AbortController();
    const ended = this.#attempt(entry, stopWaiting.signal)
      .catch((error: unknown) => {
        this.#facts.log.error({ err: error, what: idOf(entry.item) }, 'a deferred delete failed');
        return false;
      })
      .then((gone) => this.#ended(entry, gone));
    entry.running = { stopWaiting, ended };
  }

  #ended(entry: Entry, gone: boolean): void {
    entry.running = undefined;
    const id = idOf(entry.item);
    if (this.#entries.get(id) !== entry) return;
    if (gone) {
      this.#entries.delete(id);
      this.#facts.changed();
    } else {
      entry.notBefore =
        this.#facts.clock.now() + Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** entry.attempts);
      entry.attempts += 1;
    }
    this.#pump();
  }

  async #attempt({ item }: Entry, waiting: AbortSignal): Promise<boolean> {
    const { socket, signal } = this.#facts;
    try {
      const worker = await workerIdentity(socket, signal);
      if (!isSame(worker, this.#worker)) {
        this.drop();
        return false;
      }
      const line = { socket, limits: commandLimits(worker.version), signal };
      await deleteOne(item, { line, waiting, turns: this.#turns });
      return true;
    } catch (error) {
      if (error instanceof SocketFailure || error instanceof OperationRefused) return false;
      throw error;
    }
  }
}

function isSame(a: DeferredOwner, b: DeferredOwner): boolean {
  return a.pid === b.pid && a.startedAt === b.startedAt;
}

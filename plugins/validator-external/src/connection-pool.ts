import pLimit from 'p-limit';
import { Cancelled, type Clock } from '@haptic/core/contract';
import { Connection } from './connection.ts';
import type { Frame } from './request.ts';
import type { Response } from './response.ts';
import { ConnectionLost } from './unanswered.ts';

/** Validators may close what is idle for twice as long. */
export const IDLE_MS = 30_000;

export interface PoolOptions {
  readonly socketPath: string;
  readonly maxConnections: number;
  readonly clock: Clock;
  /** Told when the validator sends something that it was not asked for. */
  readonly onUnasked: () => void;
}

interface Idle {
  readonly connection: Connection;
  /** Ends its wait to be closed. */
  readonly taken: AbortController;
}

/** The connections to one validator, never more than its `maxConnections`. */
export class ConnectionPool {
  readonly #options: PoolOptions;
  readonly #slots;
  /** The last used last: those that are not needed grow old. */
  readonly #idle: Idle[] = [];
  readonly #busy = new Set<Connection>();
  #unasked = 0;
  #closed = false;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#slots = pLimit(options.maxConnections);
  }

  /** How often the validator sent something that it was not asked for. */
  get unasked(): number {
    return this.#unasked;
  }

  get isUnused(): boolean {
    return this.#slots.activeCount + this.#slots.pendingCount + this.#idle.length === 0;
  }

  /**
   * One request and its answer.
   *
   * @throws Unanswered, or the signal's reason; at once when it aborts, also while all connections are busy.
   */
  async exchange(frame: Frame, signal: AbortSignal): Promise<Response> {
    signal.throwIfAborted();
    const called = Promise.withResolvers<never>();
    const onAbort = (): void => called.reject(signal.reason);
    const free = (): Promise<Response> => {
      signal.removeEventListener('abort', onAbort);
      return this.#exchangeOnce(frame, signal);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    return await Promise.race([this.#slots(free), called.promise]);
  }

  close(): void {
    this.#closed = true;
    for (const { connection, taken } of this.#idle.splice(0)) {
      taken.abort();
      connection.close();
    }
    for (const connection of this.#busy) connection.close();
  }

  async #exchangeOnce(frame: Frame, signal: AbortSignal): Promise<Response> {
    signal.throwIfAborted();
    const first = this.#takeIdle() ?? (await this.#open(signal));
    const { wasUsed } = first;
    try {
      return await this.#use(first, frame, signal);
    } catch (error) {
      // It may have been closed in good faith while it was idle.
      if (!wasUsed || !(error instanceof ConnectionLost)) throw error;
    }
    return await this.#use(await this.#open(signal), frame, signal);
  }

  async #use(connection: Connection, frame: Frame, signal: AbortSignal): Promise<Response> {
    this.#busy.add(connection);
    try {
      const response = await connection.exchange(frame, signal);
      this.#keep(connection);
      return response;
    } finally {
      this.#busy.delete(connection);
    }
  }

  async #open(signal: AbortSignal): Promise<Connection> {
    this.#refuseWhenClosed();
    const connection = await Connection.open(this.#options.socketPath, signal, () => {
      this.#unasked++;
      this.#options.onUnasked();
    });
    if (this.#closed) connection.close();
    this.#refuseWhenClosed();
    return connection;
  }

  #refuseWhenClosed(): void {
    if (this.#closed) throw new Cancelled('the connections to validators are closed');
  }

  #takeIdle(): Connection | undefined {
    const idle = this.#idle.pop();
    idle?.taken.abort();
    return idle?.connection;
  }

  #keep(connection: Connection): void {
    if (this.#closed) {
      connection.close();
      return;
    }
    const idle: Idle = { connection, taken: new AbortController() };
    this.#idle.push(idle);
    void this.#closeWhenOld(idle);
  }

  async #closeWhenOld(idle: Idle): Promise<void> {
    try {
      await this.#options.clock.sleep(IDLE_MS, idle.taken.signal);
    } catch {
      return; // taken first
    }
    this.#idle.splice(this.#idle.indexOf(idle), 1);
    idle.connection.close();
  }
}

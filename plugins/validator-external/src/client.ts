import type { Clock } from '@haptic/core/contract';
import { ConnectionPool } from './connection-pool.ts';
import type { Frame } from './request.ts';
import type { Response } from './response.ts';
import { timeLimit } from './time-limit.ts';
import type { Validator } from './validators.ts';

/** Asks one validator over its own connections. Answers are never kept: the same bytes are asked about again. */
export class Client {
  readonly #validator: Validator;
  readonly #clock: Clock;
  readonly #pool: ConnectionPool;

  constructor(validator: Validator, clock: Clock, onUnasked: () => void) {
    const { socketPath, maxConnections } = validator;
    this.#validator = validator;
    this.#clock = clock;
    this.#pool = new ConnectionPool({ socketPath, maxConnections, clock, onUnasked });
  }

  get unasked(): number {
    return this.#pool.unasked;
  }

  get isUnused(): boolean {
    return this.#pool.isUnused;
  }

  /** @throws Unanswered when there was no answer, or what came is none; the signal's reason when it aborts. */
  async ask(frame: Frame, signal: AbortSignal): Promise<Response> {
    using limit = timeLimit(this.#validator.timeoutMs, { clock: this.#clock, signal });
    return await this.#pool.exchange(frame, limit.signal);
  }

  close(): void {
    this.#pool.close();
  }
}

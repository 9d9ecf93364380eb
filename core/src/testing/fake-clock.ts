import { setImmediate as turn } from 'node:timers/promises';
import { Cancelled } from '../contract/errors.ts';
import type { Clock } from '../contract/observability.ts';

export interface FakeClock extends Clock {
  /** Moves the time on. Sleepers wake in the order of their times, each after everything that the one before it set off. */
  advance(ms: number): Promise<void>;
  /** How many sleep now. */
  readonly sleepers: number;
}

interface Sleeper {
  readonly at: number;
  wake(): void;
}

/** A clock that stands still until it is told to move. */
export function fakeClock({ wall = Date.UTC(2030, 0, 1) }: { readonly wall?: number } = {}): FakeClock {
  let now = 0;
  const sleepers = new Set<Sleeper>();
  const sleep = async (ms: number, signal?: AbortSignal): Promise<void> => {
    if (signal?.aborted === true) throw new Cancelled('sleep was cancelled', { cause: signal.reason });
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const cancel = (): void => reject(new Cancelled('sleep was cancelled', { cause: signal?.reason }));
    const sleeper = { at: now + Math.max(0, ms), wake: resolve };
    sleepers.add(sleeper);
    signal?.addEventListener('abort', cancel, { once: true });
    try {
      await promise;
    } finally {
      sleepers.delete(sleeper);
      signal?.removeEventListener('abort', cancel);
    }
  };
  const advance = async (ms: number): Promise<void> => {
    const target = now + ms;
    await turn();
    for (let next = first(sleepers, target); next !== undefined; next = first(sleepers, target)) {
      now = next.at;
      sleepers.delete(next);
      next.wake();
      await turn();
    }
    now = target;
    await turn();
  };
  return {
    now: () => now,
    wall: () => wall + now,
    sleep,
    advance,
    get sleepers() {
      return sleepers.size;
    },
  };
}

function first(sleepers: Iterable<Sleeper>, until: number): Sleeper | undefined {
  let found: Sleeper | undefined;
  for (const sleeper of sleepers) {
    if (sleeper.at <= until && (found === undefined || sleeper.at < found.at)) found = sleeper;
  }
  return found;
}

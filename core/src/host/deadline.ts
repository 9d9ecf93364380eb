import { Cancelled } from '../contract/errors.ts';
import type { Clock } from '../contract/observability.ts';

/** How long cancelled work may take to wind up (report what it knows, close what it opened) before nobody waits for it. */
export const CANCEL_GRACE_MS = 1_000;

export class DeadlineExceeded extends Error {
  override readonly name = 'DeadlineExceeded';
}

export interface Limits {
  /** Milliseconds; `Infinity` for work that may take as long as it likes. */
  readonly ms: number;
  /** Calls the work off. */
  readonly signal?: AbortSignal | undefined;
  readonly clock: Clock;
}

/**
 * Waits for `work` no longer than its deadline, or than a grace after it was called off. The signal that `work` gets aborts in
 * both cases; work that ignores it goes on, but nobody waits for it and its late failure is nobody's.
 *
 * @throws DeadlineExceeded
 * @throws Cancelled
 */
export async function withDeadline<T>(
  work: (signal: AbortSignal) => Promise<T>,
  { ms, signal, clock }: Limits,
): Promise<T> {
  if (signal?.aborted === true) throw cancelledBy(signal);
  const told = new AbortController();
  const settled = new AbortController();
  const { promise: limit, reject } = Promise.withResolvers<never>();
  const expire = async (after: number, error: () => Error): Promise<void> => {
    try {
      await clock.sleep(after, settled.signal);
    } catch {
      return; // the work was done first
    }
    const reason = error();
    told.abort(reason);
    reject(reason);
  };
  const onAbort = (): void => {
    told.abort(signal?.reason);
    void expire(CANCEL_GRACE_MS, () => cancelledBy(signal));
  };
  signal?.addEventListener('abort', onAbort, { once: true });
  if (Number.isFinite(ms)) {
    void expire(ms, () => new DeadlineExceeded(`did not finish within ${ms / 1000} s`));
  }
  try {
    return await Promise.race([work(told.signal), limit]);
  } finally {
    settled.abort();
    signal?.removeEventListener('abort', onAbort);
  }
}

function cancelledBy(signal: AbortSignal | undefined): Cancelled {
  const reason: unknown = signal?.reason;
  return reason instanceof Cancelled ? reason : new Cancelled('cancelled', { cause: reason });
}

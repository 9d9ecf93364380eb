import type { Clock } from '@haptic/core/contract';
import { Unanswered } from './unanswered.ts';

/** A signal that aborts with the outer one, or with `Unanswered` when the time is up. */
export function timeLimit(
  ms: number,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): { readonly signal: AbortSignal } & Disposable {
  const up = new AbortController();
  const over = new AbortController();
  const wait = async (): Promise<void> => {
    try {
      await clock.sleep(ms, over.signal);
    } catch {
      return; // answered first
    }
    up.abort(new Unanswered(`did not answer within ${ms / 1000} s`));
  };
  void wait();
  return { signal: AbortSignal.any([signal, up.signal]), [Symbol.dispose]: () => over.abort() };
}

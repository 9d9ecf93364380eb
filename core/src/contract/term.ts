import { serviceKey, type ServiceKey } from './service-key.ts';

/** From winning the lease to losing it. */
export interface Term {
  readonly leader: boolean;
  readonly epoch: number;
  /** Aborted when the term ends. */
  readonly signal: AbortSignal;
}

/** Of a process that nobody competes with: the term where no plugin provides terms. */
export const ALWAYS_LEADER: Term = Object.freeze({
  leader: true,
  epoch: 1,
  signal: new AbortController().signal,
});

/** Who leads. Where no plugin provides it the process is always leader. */
export interface Terms {
  current(): Term;
  /** Called when a term has begun or ended. Returns how to stop. */
  onChange(listener: () => void): () => void;
  /**
   * Somebody has seen this epoch although the term is ours: the epoch rises above it.
   * @throws Cancelled when the term ends first, or the signal aborts.
   */
  raise(seen: number, signal: AbortSignal): Promise<number>;
}
export const TERM: ServiceKey<Terms> = serviceKey('term');

import type { Clock } from '@haptic/core/contract';
import { SocketFailure } from './exchange.ts';
import { requestReload } from './master-socket.ts';
import { workerIdentity, type WorkerIdentity } from './worker-socket.ts';

export interface HaproxySockets {
  /** Absolute paths. */
  readonly master: string;
  readonly worker: string;
}

export type ReloadResult =
  | { readonly kind: 'loaded'; readonly worker: WorkerIdentity }
  | { readonly kind: 'refused'; readonly words: string }
  /** A new worker serves other files: somebody put them in place meanwhile, as a supervisor does when HAProxy died. */
  | { readonly kind: 'other'; readonly message: string }
  /** No verdict within the time: HAProxy is not there, or does not answer. */
  | { readonly kind: 'unknown'; readonly message: string };

export interface ReloadOptions {
  readonly sockets: HaproxySockets;
  /** What the stamp must say afterwards. */
  readonly textId: string;
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Pause before a reload is asked for again: HAProxy 3.0 refuses connections for some milliseconds after each one. */
const RETRY_MS = 50;

const WITHOUT_VERDICT = {
  busy: 'another reload is still in progress',
  garbled: 'the answer to `reload` has no verdict',
} as const;

/**
 * Reloads and makes sure: the master must say `Success=1`, and then another worker with the right stamp must answer. A broken
 * connection says nothing, so the workers are compared and the reload is asked for again; it is idempotent. Callers serialise.
 */
export async function reload(options: ReloadOptions): Promise<ReloadResult> {
  const { sockets, clock, signal } = options;
  const deadline = clock.now() + options.timeoutMs;
  let message = 'no attempt was made';
  while (clock.now() < deadline) {
    const before = await identityOrNothing(sockets.worker, signal);
    try {
      const reply = await requestReload(sockets.master, Math.max(1, deadline - clock.now()), signal);
      if (reply.kind === 'refused') return reply;
      if (reply.kind === 'loaded') return await confirm(options, before);
      message = `${sockets.master}: ${WITHOUT_VERDICT[reply.kind]}`;
    } catch (error) {
      if (!(error instanceof SocketFailure)) throw error;
      message = error.message;
    }
    signal.throwIfAborted();
    await clock.sleep(RETRY_MS, signal);
  }
  return { kind: 'unknown', message };
}

/** After `Success=1` the new worker answers on the socket already; a retry covers a busy machine. */
async function confirm(options: ReloadOptions, before: WorkerIdentity | undefined): Promise<ReloadResult> {
  const { clock, signal, sockets, textId } = options;
  const deadline = clock.now() + 5_000;
  for (;;) {
    const worker = await identityOrNothing(sockets.worker, signal);
    if (worker !== undefined && worker.pid !== before?.pid) {
      if (worker.textId === undefined || worker.textId === textId) return { kind: 'loaded', worker };
      return { kind: 'other', message: `the new worker loaded text ${worker.textId}, expected ${textId}` };
    }
    if (clock.now() >= deadline) {
      return { kind: 'unknown', message: `${sockets.worker}: the new worker does not answer there` };
    }
    await clock.sleep(RETRY_MS, signal);
  }
}

async function identityOrNothing(path: string, signal: AbortSignal): Promise<WorkerIdentity | undefined> {
  try {
    return await workerIdentity(path, signal);
  } catch (error) {
    if (error instanceof SocketFailure) return undefined;
    throw error;
  }
}

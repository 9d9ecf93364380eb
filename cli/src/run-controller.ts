import { once } from 'node:events';
import type { Log } from '@haptic/core/contract';
import type { Controller } from '@haptic/core/controller';
import { shutdown, systemClock } from '@haptic/core/host';
import { Negative } from './exit.ts';

/** Less than the grace period that Kubernetes gives by default. */
const SHUTDOWN_MS = 25_000;

/**
 * Reconciles until the signal aborts, then stops in order: the work in hand first, plugins in reverse.
 *
 * @throws Negative when something did not stop as it should; it was logged.
 */
export async function runController(controller: Controller, signal: AbortSignal, log: Log): Promise<void> {
  const running = controller.run(signal);
  const ended = running.then(
    () => undefined,
    (error: unknown) => error ?? new Error('the reconcile loop ended'),
  );
  const failure = signal.aborted
    ? undefined
    : await Promise.race([ended, once(signal, 'abort').then(() => undefined)]);
  const status = await shutdown({
    steps: [{ name: 'reconcile', run: async () => void (await ended) }],
    host: controller.host,
    log,
    clock: systemClock,
    deadlineMs: SHUTDOWN_MS,
  });
  if (failure !== undefined) throw failure as Error;
  if (status !== 0) throw new Negative();
}

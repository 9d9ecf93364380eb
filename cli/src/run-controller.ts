import { once } from 'node:events';
import type { Log } from '@haptic/core/contract';
import type { Controller } from '@haptic/core/controller';
import { shutdown, systemClock } from '@haptic/core/host';
import { Negative } from './exit.ts';

/** Less than the grace period that Kubernetes gives by default. */
const SHUTDOWN_MS = 25_000;

/**
 * Reconciles until the signal aborts, then stops in order: first nobody new is to come, then the work in hand ends, then plugins in
 * reverse.
 *
 * @param delayMs How long it goes on working after it has said that it stops: others take a while to hear of it.
 * @throws Negative when something did not stop as it should; it was logged.
 */
export async function runController(
  controller: Controller,
  signal: AbortSignal,
  log: Log,
  delayMs = 0,
): Promise<void> {
  const stop = new AbortController();
  const running = controller.run(stop.signal);
  const ended = running.then(
    () => undefined,
    (error: unknown) => error ?? new Error('the reconcile loop ended'),
  );
  const failure = signal.aborted
    ? undefined
    : await Promise.race([ended, once(signal, 'abort').then(() => undefined)]);
  const status = await shutdown({
    steps: [
      {
        name: 'readiness',
        run: async () => {
          controller.announceStop();
          if (failure === undefined) await Promise.race([ended, systemClock.sleep(delayMs)]);
        },
      },
      {
        name: 'reconcile',
        run: async () => {
          stop.abort();
          await ended;
        },
      },
    ],
    host: controller.host,
    log,
    clock: systemClock,
    deadlineMs: SHUTDOWN_MS,
  });
  if (failure !== undefined) throw failure as Error;
  if (status !== 0) throw new Negative();
}

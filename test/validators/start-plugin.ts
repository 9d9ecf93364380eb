import type { Caller, Candidate, Clock, Verdict } from '@haptic/core/contract';
import { createHooks, Host, systemClock } from '@haptic/core/host';
import { memoryLog, memoryMeter, type MemoryLog, type MemoryMeter } from '@haptic/core/testing';
import plugin from '@haptic/validator-external';
import { runJudges } from '../../core/src/pipeline/judges.ts';
import { onCleanup } from '../haproxy/cleanup.ts';

interface Asking {
  readonly caller?: Caller;
  readonly signal?: AbortSignal;
}

export interface StartedPlugin {
  readonly host: Host<ReturnType<typeof createHooks>>;
  readonly log: MemoryLog;
  readonly meter: MemoryMeter;
  /** Asks as the pipeline does. */
  readonly judge: (candidate: Candidate, context?: Asking) => Promise<Verdict>;
}

/** The plugin on a host of its own, closed at the end of the test. */
export async function startPlugin({
  options,
  clock = systemClock,
}: { readonly options?: object; readonly clock?: Clock } = {}): Promise<StartedPlugin> {
  const log = memoryLog();
  const meter = memoryMeter(clock);
  const host = await Host.start({
    hooks: createHooks(),
    observers: ['configAccepted'],
    plugins: [{ plugin, options }],
    log,
    meter,
    clock,
  });
  onCleanup(() => host.close());
  return {
    host,
    log,
    meter,
    judge: (candidate, { caller = 'reconcile', signal = new AbortController().signal } = {}) =>
      runJudges(host, ['external'], candidate, { caller, signal }),
  };
}

import type { Clock, Log } from '../contract/observability.ts';
import { withDeadline } from './deadline.ts';
import type { Host } from './host.ts';

/** One thing to do before plugins are disposed: readiness off, wait for endpoints, stop taking work, abort the term, … */
export interface ShutdownStep {
  readonly name: string;
  run(): void | Promise<void>;
}

export interface ShutdownOptions {
  /** In order. */
  readonly steps: readonly ShutdownStep[];
  readonly host: Pick<Host<object>, 'close' | 'pending' | 'undisposed'>;
  readonly log: Log;
  readonly clock: Clock;
  /** Of everything together: a little less than the time after which the process is killed. */
  readonly deadlineMs: number;
}

/**
 * Stops a process in order. A step that fails or hangs is logged and the next one follows; one that hangs gets half of the time
 * that is left. Resolves at the deadline at the latest, with the exit status: 0 when everything stopped as it should.
 */
export async function shutdown({ steps, host, log, clock, deadlineMs }: ShutdownOptions): Promise<0 | 1> {
  const start = clock.now();
  const left = (): number => Math.max(0, start + deadlineMs - clock.now());
  let clean = true;
  for (const step of steps) {
    try {
      await withDeadline(async () => await step.run(), { ms: left() / 2, clock });
    } catch (error) {
      clean = false;
      log.error({ step: step.name, err: error }, 'a step of the shutdown failed');
    }
  }
  try {
    await host.close({ deadlineMs: left() });
  } catch (error) {
    clean = false;
    log.error({ err: error }, 'plugins did not stop as they should');
  }
  const hanging = { pending: host.pending(), undisposed: host.undisposed() };
  if (hanging.pending.length > 0 || hanging.undisposed.length > 0) {
    clean = false;
    log.error(hanging, 'the shutdown left this hanging');
  }
  log.info({ durationMs: Math.round(clock.now() - start), clean }, 'stopped');
  return clean ? 0 : 1;
}

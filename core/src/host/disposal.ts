import { PluginError } from '../contract/errors.ts';
import type { Clock } from '../contract/observability.ts';
import { DeadlineExceeded, withDeadline } from './deadline.ts';
import type { PendingRuns } from './pending.ts';
import type { PluginRecord } from './plugin-record.ts';

export interface DisposalFacts {
  readonly clock: Clock;
  readonly pending: PendingRuns;
  readonly deadlineMs: number;
}

/**
 * Disposes plugins in reverse order, each after its own running taps settled. One that hangs gets at most half of the time that
 * is left, so that those before it still get their turn.
 */
export async function disposeAll(
  records: readonly PluginRecord[],
  facts: DisposalFacts,
): Promise<PluginError[]> {
  const { clock, deadlineMs } = facts;
  const end = clock.now() + deadlineMs;
  const failures: PluginError[] = [];
  for (const record of records.toReversed()) {
    const half = Math.max(0, end - clock.now()) / 2;
    failures.push(...(await disposeOne(record, half, facts)));
  }
  return failures;
}

async function disposeOne(record: PluginRecord, ms: number, facts: DisposalFacts): Promise<PluginError[]> {
  const { clock, pending } = facts;
  const failures: PluginError[] = [];
  const bounded = async (ms: number, work: () => Promise<unknown>): Promise<void> => {
    try {
      await withDeadline(work, { ms, clock });
    } catch (cause) {
      if (!(cause instanceof DeadlineExceeded)) throw cause;
      failures.push(...hanging(record.name, pending, cause));
    }
  };
  await bounded(ms / 2, () => pending.settled(record.name));
  await bounded(ms / 2, async () => {
    failures.push(...(await pending.track(record.name, 'dispose', record.dispose())));
  });
  return failures;
}

/** One error for each thing that a plugin still runs. */
function hanging(plugin: string, pending: PendingRuns, cause: DeadlineExceeded): PluginError[] {
  return pending
    .list()
    .filter((run) => run.plugin === plugin)
    .map(({ hook, runningMs }) => {
      const message = `${hook} still runs after ${(runningMs / 1000).toFixed(1)} s`;
      return new PluginError('PLUGIN_TIMEOUT', plugin, message, { hook, cause });
    });
}

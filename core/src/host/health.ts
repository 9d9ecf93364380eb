import type { Clock } from '../contract/observability.ts';
import type { HealthCheck } from '../contract/plugin.ts';
import { withDeadline } from './deadline.ts';

/** Probes have time-outs of their own, so a check that hangs must not hold the others back. */
const CHECK_DEADLINE_MS = 1_000;

export interface CheckAnswer {
  readonly name: string;
  /** Undefined: fine. */
  readonly problem: string | undefined;
}

/** Each check's answer, in order; one that throws or hangs answers with its error. */
export function askChecks(checks: ReadonlyMap<string, HealthCheck>, clock: Clock): Promise<CheckAnswer[]> {
  return Promise.all(
    Array.from(checks, async ([name, check]) => ({ name, problem: await problemOf(check, clock) })),
  );
}

async function problemOf(check: HealthCheck, clock: Clock): Promise<string | undefined> {
  try {
    return await withDeadline(async () => await check(), { ms: CHECK_DEADLINE_MS, clock });
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

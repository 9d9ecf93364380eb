import { redactText, type ControllerAccess, type HealthReport } from '@haptic/core/contract';

/** The body of `/readyz`. */
export interface Readiness {
  readonly ready: boolean;
  /** What the controller does: `waiting` until a configuration was accepted and its store is filled. */
  readonly phase: string;
  /** Why the newest configuration or render is not the one that serves. */
  readonly problem?: string;
  /** Checks of plugins that find something. They are told, and change nothing about the readiness. */
  readonly checks: readonly Pick<HealthReport, 'plugin' | 'name' | 'problem'>[];
}

/**
 * Judges what serves. A new configuration that was refused, or a validator that is away, takes nobody out: others would fare no
 * better, and what serves goes on serving.
 */
export async function readiness(controller: ControllerAccess): Promise<Readiness> {
  const { phase, problem } = controller.status();
  const reports = await controller.health();
  return {
    ready: phase === 'serving',
    phase,
    ...(problem !== undefined && { problem: redactText(problem.message) }),
    checks: reports.flatMap((report) =>
      report.problem === undefined ? [] : [{ ...report, problem: redactText(report.problem) }],
    ),
  };
}

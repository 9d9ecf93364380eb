import type { ContractCheck } from '../plugin-contract.ts';
import { answerChecks, sampleChecks } from './answer-checks.ts';
import type { Target } from './peer.ts';
import { refusalChecks, stallChecks } from './refusal-checks.ts';
import { Session, type ConformanceOptions } from './session.ts';

export type { Target } from './peer.ts';
export type { ConformanceOptions, SampleFile } from './session.ts';

/**
 * What every external validator must keep to (protocol version 1), asked over its socket: give the checks to any test runner.
 *
 * Written apart from the plugin that asks validators: what one of the two misreads, the other does not bear out.
 */
export function validatorConformance(
  target: Target,
  options: ConformanceOptions = {},
): readonly ContractCheck[] {
  const session = new Session(target, options);
  const { stallMs } = options;
  const checks = { ...answerChecks, ...sampleChecks(session), ...refusalChecks };
  const named = Object.entries(checks).map(([name, check]) => ({ name, run: () => check(session) }));
  if (stallMs === undefined) return named;
  const patient = new Session(target, { ...options, timeoutMs: stallMs + session.options.timeoutMs });
  const stalls = Object.entries(stallChecks).map(([name, check]) => ({ name, run: () => check(patient) }));
  return [...named, ...stalls];
}

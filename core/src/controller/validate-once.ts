import type { Clock, Hooks, JudgeBinary, MergedConfig } from '../contract/index.ts';
import type { Pipeline } from '../pipeline/index.ts';
import { testConfig, type TestReport } from '../validation-tests/index.ts';
import { fleetFacts } from './fleet-facts.ts';

export interface ValidateOnceParts {
  readonly pipeline: Pipeline;
  readonly hooks: Pick<Hooks, 'validate'>;
  readonly judge: JudgeBinary;
  readonly clock: Clock;
}

/** A configuration that merges and compiles, and what its tests said. */
export interface Validated {
  readonly config: MergedConfig;
  readonly report: TestReport;
}

/** Loads, merges, compiles and runs the configuration's tests, on their fixtures alone. @throws Refused */
export async function validateOnce(
  { pipeline, hooks, judge, clock }: ValidateOnceParts,
  signal: AbortSignal,
  only: readonly string[] | undefined,
): Promise<Validated> {
  const context = { signal, caller: 'validate' } as const;
  const config = pipeline.merge(await pipeline.load(context));
  const fleet = await fleetFacts(undefined, judge);
  // Fixtures stand for everything that could be served.
  const under = { pipeline, hooks, clock, merged: config, served: () => true, fleet, ...(only && { only }) };
  return { config, report: await testConfig(under, context) };
}

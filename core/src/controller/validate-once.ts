import type { Clock, Hooks, JudgeBinary, MergedConfig } from '../contract/index.ts';
import type { Pipeline } from '../pipeline/index.ts';
import { testConfig, type TestObserver, type TestReport } from '../validation-tests/index.ts';
import { fleetFacts } from './fleet-facts.ts';

export interface ValidateOnceParts {
  readonly pipeline: Pipeline;
  readonly hooks: Pick<Hooks, 'validate'>;
  /** Undefined: there is no HAProxy here. */
  readonly judge: JudgeBinary | undefined;
  readonly clock: Clock;
}

export interface ValidateOptions {
  /** Only these tests. */
  readonly only?: readonly string[] | undefined;
  readonly observer?: TestObserver | undefined;
}

/** A configuration that merges and compiles, and what its tests said. */
export interface Validated {
  readonly config: MergedConfig;
  readonly report: TestReport;
}

/** What templates are told where nobody knows: the newest version that is supported. */
const NEWEST: JudgeBinary = { version: () => Promise.resolve('3.4.0') };

/** Loads, merges, compiles and runs the configuration's tests, on their fixtures alone. @throws Refused */
export async function validateOnce(
  { pipeline, hooks, judge, clock }: ValidateOnceParts,
  signal: AbortSignal,
  { only, observer }: ValidateOptions,
): Promise<Validated> {
  const context = { signal, caller: 'validate' } as const;
  const config = pipeline.merge(await pipeline.load(context));
  const fleet = await fleetFacts(undefined, judge ?? NEWEST);
  // Fixtures stand for everything that could be served.
  const served = (): boolean => true;
  const options = { ...(only && { only }), ...(observer && { observer }) };
  const under = { pipeline, hooks, clock, merged: config, served, fleet, judge, ...options };
  return { config, report: await testConfig(under, context) };
}

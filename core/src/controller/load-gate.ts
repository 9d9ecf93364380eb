import type { FleetFacts, HookContext, MergedConfig, RenderPlan } from '../contract/index.ts';
import { ALL_JUDGES, type Pipeline } from '../pipeline/index.ts';
import type { Candidate } from './config-loader.ts';
import { verdictError } from './verdict-error.ts';
import { unservedOf, type Accepted } from './serving.ts';

/** Runs the tests that a configuration brings. @throws Refused with those that fail. */
export type TestConfig = (config: MergedConfig, context: HookContext) => Promise<void>;

export interface LoadGateParts {
  readonly pipeline: Pipeline;
  readonly testConfig: TestConfig;
}

/**
 * Everything that stands between a configuration and its first render: structure, templates, its own tests, a render over the live
 * store, all judges. One answer, and none halfway.
 *
 * @throws Refused for a configuration that must not serve, Retry when a judge gave no verdict.
 */
export async function passLoadGate(
  { pipeline, testConfig }: LoadGateParts,
  candidate: Candidate,
  { fleet, current }: { readonly fleet: FleetFacts; readonly current?: RenderPlan },
  context: HookContext,
): Promise<Accepted> {
  const { merged, watching } = candidate;
  const unserved = unservedOf(candidate);
  const { config } = pipeline.prepare(merged, ({ watch }) => watching.isServed(watch));
  await testConfig(config, context);
  const subject = { config, view: watching.view(), fleet, ...(current && { current }), judges: ALL_JUDGES };
  const evaluation = await pipeline.evaluate(subject, context);
  if (evaluation.verdict.kind !== 'passed') throw verdictError(evaluation.verdict);
  return { serving: { merged, watching, config, unserved }, evaluation };
}

import type { Clock, HookContext, Hooks, JudgeBinary, RenderInput } from '../contract/index.ts';
import type { Pipeline } from '../pipeline/index.ts';
import { refuseFailures, testConfig } from '../validation-tests/index.ts';
import type { Candidate } from './config-loader.ts';
import type { Promotion } from './promotion.ts';
import { unservedOf, type Accepted } from './serving.ts';
import { verdictError } from './verdict-error.ts';

export interface LoadGateParts {
  readonly pipeline: Pipeline;
  readonly hooks: Pick<Hooks, 'validate'>;
  readonly judge: JudgeBinary;
  readonly clock: Clock;
  readonly promotion: Promotion;
}

/**
 * Everything that stands between a configuration and its first render: structure, templates, its own tests, a render over the live
 * store, all judges. One answer, and none halfway.
 *
 * @throws Refused for a configuration that must not serve, Retry when a judge gave no verdict.
 */
export async function passLoadGate(
  { pipeline, hooks, judge, clock, promotion }: LoadGateParts,
  candidate: Candidate,
  surroundings: Omit<RenderInput, 'config' | 'view'>,
  context: HookContext,
): Promise<Accepted> {
  const { merged, watching } = candidate;
  const unserved = unservedOf(candidate);
  const served = ({ watch }: { readonly watch: string }): boolean => watching.isServed(watch);
  const { config } = pipeline.prepare(merged, served);
  const judging = { ...surroundings.fleet, haproxyVersion: await judge.version() };
  refuseFailures(
    await testConfig({ pipeline, hooks, clock, merged, served, fleet: judging, judge }, context),
  );
  const input = { config, view: watching.view(), ...surroundings };
  const { evaluation, contents } = await promotion.first(
    (contents) => pipeline.evaluate({ ...input, contents }, context),
    context.signal,
  );
  if (evaluation.verdict.kind !== 'passed') throw verdictError(evaluation.verdict);
  return { serving: { merged, watching, config, unserved }, input: { ...input, contents }, evaluation };
}

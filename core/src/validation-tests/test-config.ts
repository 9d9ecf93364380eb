import type { Served } from '../config/index.ts';
import type { MergedConfig } from '../contract/config.ts';
import type { HookContext, Hooks } from '../contract/hooks.ts';
import type { JsonObject } from '../contract/object.ts';
import type { Clock } from '../contract/observability.ts';
import type { FleetFacts } from '../contract/render-input.ts';
import type { Pipeline } from '../pipeline/index.ts';
import { runJudges } from '../pipeline/judges.ts';
import { fixtureView } from '../store/index.ts';
import type { TestReport } from './outcome.ts';
import { runValidationTests } from './run-validation-tests.ts';

export interface ConfigUnderTest {
  readonly pipeline: Pipeline;
  readonly hooks: Pick<Hooks, 'validate'>;
  readonly clock: Clock;
  readonly merged: MergedConfig;
  readonly served: Served;
  /** Its version is the judge's: no pod takes part in a test. */
  readonly fleet: FleetFacts;
  readonly only?: readonly string[];
}

/**
 * Runs a configuration's tests through the pipeline, as the gates and `haptic validate` do.
 *
 * @throws Refused for templates that do not compile, Cancelled when called off.
 */
export function testConfig(under: ConfigUnderTest, context: HookContext): Promise<TestReport> {
  const { pipeline, hooks, clock, merged, served, fleet, only } = under;
  const { config } = pipeline.prepare(merged, served);
  // Templates are compiled for a configuration, settings included: tests with other settings have one of their own.
  const prepared = new WeakMap([[config.settings, config]]);
  const configWith = (settings: JsonObject): MergedConfig => {
    const own = prepared.get(settings) ?? pipeline.prepare({ ...merged, settings }, served).config;
    prepared.set(settings, own);
    return own;
  };
  return runValidationTests({
    config,
    viewOf: (fixtures) => fixtureView(config.watchedResources, fixtures),
    render: (view, settings) => pipeline.render({ config: configWith(settings), view, fleet }, context),
    judge: (rendered, { view, settings, kinds }) =>
      runJudges({ hooks }, kinds, { rendered, config: configWith(settings), view, fleet }, context),
    haproxyVersion: fleet.haproxyVersion,
    signal: context.signal,
    clock,
    ...(only && { only }),
  });
}

import type { Served } from '../config/index.ts';
import type { MergedConfig } from '../contract/config.ts';
import type { HookContext, Hooks } from '../contract/hooks.ts';
import type { JsonObject } from '../contract/object.ts';
import type { Clock } from '../contract/observability.ts';
import type { FleetFacts } from '../contract/render-input.ts';
import type { JudgeBinary } from '../contract/services.ts';
import type { Pipeline } from '../pipeline/index.ts';
import { runJudges } from '../pipeline/judges.ts';
import { fixtureView } from '../store/index.ts';
import { currentPlan } from './current-plan.ts';
import type { TestReport } from './outcome.ts';
import { runValidationTests } from './run-validation-tests.ts';
import type { TestObserver, TestStage } from './stage.ts';

export interface ConfigUnderTest {
  readonly pipeline: Pipeline;
  readonly hooks: Pick<Hooks, 'validate'>;
  readonly clock: Clock;
  readonly merged: MergedConfig;
  readonly served: Served;
  /** Its version is the judge's: no pod takes part in a test. */
  readonly fleet: FleetFacts;
  /** Undefined: there is no HAProxy, and what needs one is not judged. */
  readonly judge: JudgeBinary | undefined;
  readonly only?: readonly string[];
  readonly observer?: TestObserver;
}

/** Templates are compiled for a configuration, settings included: tests with other settings have one of their own. */
class Configurations {
  readonly #prepare: (settings: JsonObject) => MergedConfig;
  readonly #prepared: WeakMap<JsonObject, MergedConfig>;

  constructor(config: MergedConfig, prepare: (settings: JsonObject) => MergedConfig) {
    this.#prepare = prepare;
    this.#prepared = new WeakMap([[config.settings, config]]);
  }

  with(settings: JsonObject): MergedConfig {
    const known = this.#prepared.get(settings) ?? this.anew(settings);
    this.#prepared.set(settings, known);
    return known;
  }

  anew(settings: JsonObject): MergedConfig {
    return this.#prepare(settings);
  }
}

function stageOf(under: ConfigUnderTest, context: HookContext): Omit<TestStage, 'clock' | 'signal'> {
  const { pipeline, hooks, merged, served, fleet, judge } = under;
  const { config } = pipeline.prepare(merged, served);
  const configurations = new Configurations(
    config,
    (settings) => pipeline.prepare({ ...merged, settings }, served).config,
  );
  return {
    config,
    render: async ({
      prepared,
      fixtures = prepared.fixtures,
      settings = prepared.settings,
      probe,
      anew = false,
    }) => {
      const current = currentPlan(prepared.test);
      const facts = {
        ...fleet,
        paths: { ...fleet.paths, ...(probe && { workerSocket: probe.workerSocket }) },
      };
      const subject = {
        config: anew ? configurations.anew(settings) : configurations.with(settings),
        view: fixtureView(config.watchedResources, fixtures),
        fleet: facts,
        contents: prepared.contents,
        ...(current && { current }),
        ...(probe && { standIn: probe.standIn }),
      };
      return await pipeline.render(subject, context);
    },
    judge: (rendered, { fixtures, settings }, kinds) => {
      const view = fixtureView(config.watchedResources, fixtures);
      return runJudges(
        { hooks },
        kinds,
        { rendered, config: configurations.with(settings), view, fleet },
        context,
      );
    },
    ...(judge === undefined
      ? { noHaproxy: 'there is no HAProxy here' }
      : { haproxyVersion: fleet.haproxyVersion, ...(judge.probe && { probe: judge.probe }) }),
  };
}

/**
 * Runs a configuration's tests through the pipeline, as the gates and `haptic validate` do.
 *
 * @throws Refused for templates that do not compile, Cancelled when called off.
 */
export function testConfig(under: ConfigUnderTest, context: HookContext): Promise<TestReport> {
  const { clock, only, observer } = under;
  return runValidationTests({
    ...stageOf(under, context),
    signal: context.signal,
    clock,
    ...(only && { only }),
    ...(observer && { observer }),
  });
}

import type { RouteExpectation, RouteRequest } from '../contract/config.ts';
import { Refused } from '../contract/errors.ts';
import type { Rendered } from '../contract/render-plan.ts';
import type { Trials } from './assertions.ts';
import { fails, HOLDS, unjudged, type Judgement } from './outcome.ts';
import { permuted } from './permute.ts';
import type { PreparedTest } from './prepare-test.ts';
import { RouteTrial } from './route-trial.ts';
import { renderDifference } from './same-render.ts';
import type { TestRender, TestStage } from './stage.ts';

/** Everything that is tried with one test's render besides looking at it. */
export class Trial implements Trials, AsyncDisposable {
  readonly noHaproxy: string | undefined;
  readonly #stage: TestStage;
  readonly #prepared: PreparedTest;
  readonly #rendered: Rendered;
  #routes: RouteTrial | undefined;

  constructor(stage: TestStage, prepared: PreparedTest, rendered: Rendered) {
    this.noHaproxy = stage.noHaproxy;
    this.#stage = stage;
    this.#prepared = prepared;
    this.#rendered = rendered;
  }

  /** Again as it was, and with its objects in another order by templates that remember nothing. */
  async deterministic(): Promise<Judgement> {
    const again = await this.#difference('rendered again', {});
    if (again !== undefined) return fails(again);
    const fixtures = permuted(this.#prepared.fixtures);
    const turned = await this.#difference('with its objects in another order', { fixtures, anew: true });
    return turned === undefined ? HOLDS : fails(turned);
  }

  async route(request: RouteRequest, expect: RouteExpectation): Promise<Judgement> {
    const { probe, signal, render } = this.#stage;
    if (probe === undefined) return unjudged('the judge of HAProxy configurations cannot start HAProxy');
    this.#routes ??= new RouteTrial({
      rendered: this.#rendered,
      settings: this.#prepared.settings,
      probe,
      render: ({ settings, ...own }) => render({ prepared: this.#prepared, settings, probe: own }),
      signal,
    });
    return await this.#routes.judge(request, expect);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#routes?.[Symbol.asyncDispose]();
  }

  async #difference(how: string, changed: Omit<TestRender, 'prepared'>): Promise<string | undefined> {
    try {
      const second = await this.#stage.render({ prepared: this.#prepared, ...changed });
      const difference = renderDifference(this.#rendered, second);
      return difference === undefined ? undefined : `${how}, ${difference}`;
    } catch (error) {
      if (error instanceof Refused) return `${how}, it fails: ${error.message}`;
      throw error;
    }
  }
}

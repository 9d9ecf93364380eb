import { resolveRequires, type Dropped, type Served } from '../config/index.ts';
import {
  Bug,
  Cancelled,
  type Clock,
  type ConfigSet,
  type HookContext,
  type Hooks,
  type MergedConfig,
  type Rendered,
} from '../contract/index.ts';
import type { Hash } from '../plan/index.ts';
import type { Renderer } from '../render/renderer.ts';
import type { Evaluation, RenderSubject, Subject } from './evaluation.ts';
import { runJudges } from './judges.ts';
import { SetCollector } from './set-collector.ts';

export interface PipelineParts {
  readonly hooks: Hooks;
  /** Pure. @throws Refused */
  readonly merge: (set: ConfigSet) => MergedConfig;
  readonly renderer: Renderer;
  readonly hash: Hash;
  readonly clock: Clock;
}

/** A configuration whose templates are compiled, without what can not be used where it runs. */
export interface Prepared {
  readonly config: MergedConfig;
  readonly dropped: readonly Dropped[];
}

function check({ signal }: HookContext): void {
  if (signal.aborted) throw new Cancelled('the pipeline was called off', { cause: signal.reason });
}

/**
 * The one implementation of the stages, for every caller. Between stages, and before anything is returned or told to an observer,
 * it looks whether the answer is still wanted: work that was called off publishes nothing.
 */
export class Pipeline {
  readonly #parts: PipelineParts;

  constructor(parts: PipelineParts) {
    this.#parts = parts;
  }

  /** @throws Refused when the source has no configuration. */
  async load(context: HookContext): Promise<ConfigSet> {
    check(context);
    const { load } = this.#parts.hooks;
    const collector = new SetCollector(load.taps[0]?.name ?? 'load');
    await load.promise(collector, context);
    check(context);
    return collector.set;
  }

  /** @throws Refused */
  merge(set: ConfigSet): MergedConfig {
    const merged = this.#parts.merge(set);
    const reported = this.#parts.hooks.merge.call(merged, set);
    if (reported !== merged)
      throw new Bug('a tap of merge gave back another configuration: taps may only look');
    return merged;
  }

  /** Drops what is not served and compiles the rest. @throws Refused with all problems. */
  prepare(merged: MergedConfig, served: Served): Prepared {
    const { config, dropped } = resolveRequires(merged, served, this.#parts.hash);
    this.#parts.renderer.prepare(config, dropped);
    return { config, dropped };
  }

  /** Renders without asking anybody about it: for looking, never for publishing. */
  async render(subject: RenderSubject, context: HookContext): Promise<Rendered> {
    return (await this.#render(subject, context)).rendered;
  }

  /**
   * Renders and has everybody judge.
   *
   * @throws Refused for what the templates or the plan refuse, Cancelled when called off.
   */
  async evaluate(subject: Subject, context: HookContext): Promise<Evaluation> {
    const { hooks, clock } = this.#parts;
    const { rendered, renderMs } = await this.#render(subject, context);
    const start = clock.now();
    const { config, view, fleet, judges } = subject;
    const verdict = await runJudges({ hooks }, judges, { rendered, config, view, fleet }, context);
    check(context);
    const judgeMs = clock.now() - start;
    if (verdict.kind !== 'interrupted') {
      hooks.judged.call(rendered.plan, verdict, { durationMs: judgeMs, caller: context.caller });
    }
    return { rendered, verdict, durations: { renderMs, judgeMs } };
  }

  async #render(
    { config, view, fleet, contents, current, retainedProfiles, standIn }: RenderSubject,
    context: HookContext,
  ): Promise<{ readonly rendered: Rendered; readonly renderMs: number }> {
    check(context);
    const { hooks, clock } = this.#parts;
    const start = clock.now();
    const input = Object.freeze({
      config,
      view,
      fleet,
      ...(contents && { contents }),
      ...(current && { current }),
      ...(retainedProfiles && { retainedProfiles }),
      ...(standIn && { standIn }),
    });
    const rendered = await hooks.render.promise(input, context);
    check(context);
    if (rendered === undefined) throw new Bug('nobody rendered');
    const renderMs = clock.now() - start;
    hooks.rendered.call(rendered.plan, { durationMs: renderMs, caller: context.caller });
    return { rendered, renderMs };
  }
}

import { resolveRequires, type Dropped, type Served } from '../config/index.ts';
import {
  Bug,
  Cancelled,
  type Candidate,
  type Clock,
  type ConfigSet,
  type ConfigVersion,
  type Finding,
  type HookContext,
  type Hooks,
  type JudgeKind,
  type MergedConfig,
  type Rendered,
  type Verdict,
} from '../contract/index.ts';
import type { Hash } from '../plan/index.ts';
import type { Renderer } from '../render/renderer.ts';
import {
  ALL_JUDGES,
  OTHER_JUDGES,
  type Deferred,
  type Evaluation,
  type Opening,
  type RenderSubject,
  type Settled,
} from './evaluation.ts';
import { combineVerdicts } from './combine-verdicts.ts';
import { runJudges } from './judges.ts';
import { SetCollector } from './set-collector.ts';

export interface PipelineParts {
  readonly hooks: Hooks;
  /** Pure. @throws Refused */
  readonly merge: (set: ConfigSet) => MergedConfig;
  readonly renderer: Renderer;
  readonly hash: Hash;
  readonly clock: Clock;
  /** What is to be said about HAProxy's judge itself: rides on every verdict. */
  readonly remarks?: () => Promise<readonly Finding[]>;
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

  /**
   * @param onVersion Called with what the source has said to speak of, before anything is thrown.
   * @throws Refused when the source has no configuration.
   */
  async load(context: HookContext, onVersion?: (version: ConfigVersion) => void): Promise<ConfigSet> {
    check(context);
    const { load } = this.#parts.hooks;
    const collector = new SetCollector(load.taps[0]?.name ?? 'load');
    try {
      await load.promise(collector, context);
    } finally {
      if (collector.told !== undefined) onVersion?.(collector.told);
    }
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
  async evaluate(subject: RenderSubject, context: HookContext): Promise<Evaluation> {
    const { candidate, renderMs } = await this.#candidate(subject, context);
    const { verdict, judgeMs } = await this.#judge(ALL_JUDGES, candidate, context);
    return await this.#answer({ candidate, verdict, durations: { renderMs, judgeMs } }, context);
  }

  /**
   * Renders and has everybody judge but HAProxy. Where one of them does not pass it HAProxy is asked as well, so that all errors are
   * known at once.
   *
   * @throws as `evaluate`
   */
  async evaluateDeferring(subject: RenderSubject, context: HookContext): Promise<Opening> {
    const { candidate, renderMs } = await this.#candidate(subject, context);
    const others = await this.#judge(OTHER_JUDGES, candidate, context);
    if (others.verdict.kind === 'passed') {
      const { findings } = others.verdict;
      const durations = { renderMs, judgeMs: others.judgeMs };
      return { kind: 'deferred', deferred: Object.freeze({ candidate, findings, durations }) };
    }
    const haproxy = await this.#judge(['haproxy'], candidate, context);
    const verdict = combineVerdicts([haproxy.verdict, others.verdict]);
    const durations = { renderMs, judgeMs: others.judgeMs + haproxy.judgeMs };
    return {
      kind: 'settled',
      evaluation: await this.#answer({ candidate, verdict, durations }, context),
    };
  }

  /** Asks HAProxy about a render that everybody else passed. @throws Cancelled when called off. */
  async settle({ candidate, findings, durations }: Deferred, context: HookContext): Promise<Settled> {
    check(context);
    const { verdict: haproxy, judgeMs } = await this.#judge(['haproxy'], candidate, context);
    const verdict = combineVerdicts([haproxy, { kind: 'passed', findings }]);
    const both = { renderMs: durations.renderMs, judgeMs: durations.judgeMs + judgeMs };
    return { ...(await this.#answer({ candidate, verdict, durations: both }, context)), haproxy };
  }

  /** The answer about a render whose content HAProxy has judged before: for the render gate alone. */
  recall(
    { candidate, findings, durations }: Deferred,
    haproxy: Verdict,
    context: HookContext,
  ): Promise<Evaluation> {
    const verdict = combineVerdicts([haproxy, { kind: 'passed', findings }]);
    return this.#answer({ candidate, verdict, durations }, context);
  }

  /** The one way out for a verdict: looks a last time whether it is wanted, then tells observers. */
  async #answer(
    { candidate, verdict: judged, durations }: Omit<Evaluation, 'rendered'> & Pick<Deferred, 'candidate'>,
    context: HookContext,
  ): Promise<Evaluation> {
    const { hooks, remarks } = this.#parts;
    const { rendered } = candidate;
    const known = new Set(judged.findings.map(({ message }) => message));
    const more = ((await remarks?.()) ?? []).filter(({ message }) => !known.has(message));
    const findings = [...judged.findings, ...more];
    check(context);
    const verdict = { ...judged, findings };
    if (verdict.kind !== 'interrupted') {
      hooks.judged.call(rendered.plan, verdict, { durationMs: durations.judgeMs, caller: context.caller });
    }
    return { rendered, verdict, durations };
  }

  async #candidate(
    subject: RenderSubject,
    context: HookContext,
  ): Promise<{ readonly candidate: Candidate; readonly renderMs: number }> {
    const { rendered, renderMs } = await this.#render(subject, context);
    const { config, view, fleet } = subject;
    return { candidate: Object.freeze({ rendered, config, view, fleet }), renderMs };
  }

  async #judge(
    kinds: readonly JudgeKind[],
    candidate: Candidate,
    context: HookContext,
  ): Promise<{ readonly verdict: Verdict; readonly judgeMs: number }> {
    const { hooks, clock } = this.#parts;
    const start = clock.now();
    const verdict = await runJudges({ hooks }, kinds, candidate, context);
    check(context);
    return { verdict, judgeMs: clock.now() - start };
  }

  async #render(
    subject: RenderSubject,
    context: HookContext,
  ): Promise<{ readonly rendered: Rendered; readonly renderMs: number }> {
    check(context);
    const { hooks, clock } = this.#parts;
    const start = clock.now();
    const rendered = await hooks.render.promise(Object.freeze({ ...subject }), context);
    check(context);
    if (rendered === undefined) throw new Bug('nobody rendered');
    const renderMs = clock.now() - start;
    hooks.rendered.call(rendered.plan, { durationMs: renderMs, caller: context.caller });
    return { rendered, renderMs };
  }
}

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
  OTHER_JUDGES,
  type Deferred,
  type Evaluation,
  type Opening,
  type RenderSubject,
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

interface Judged {
  readonly verdict: Verdict;
  readonly judgeMs: number;
}

interface AllJudged extends Pick<Deferred, 'candidate'> {
  readonly renderMs: number;
  readonly haproxy: Judged;
  readonly others: Judged;
}

function judgedByOthers({ candidate, findings, durations }: Deferred): Omit<AllJudged, 'haproxy'> {
  const { renderMs, judgeMs } = durations;
  return { candidate, renderMs, others: { verdict: { kind: 'passed', findings }, judgeMs } };
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
   * Renders and has everybody judge. HAProxy first: what it can not read nobody else needs to judge, and its words are the clearest.
   *
   * @throws Refused for what the templates or the plan refuse, Cancelled when called off.
   */
  async evaluate(subject: RenderSubject, context: HookContext): Promise<Evaluation> {
    const { candidate, renderMs } = await this.#candidate(subject, context);
    const haproxy = await this.#judge(['haproxy'], candidate, context);
    const others = await this.#judge(OTHER_JUDGES, candidate, context);
    return await this.#answer({ candidate, renderMs, haproxy, others }, context);
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
    const evaluation = await this.#answer({ candidate, renderMs, haproxy, others }, context);
    return { kind: 'settled', evaluation };
  }

  /** Asks HAProxy about a render that everybody else passed. @throws Cancelled when called off. */
  async settle(deferred: Deferred, context: HookContext): Promise<Evaluation> {
    check(context);
    const haproxy = await this.#judge(['haproxy'], deferred.candidate, context);
    return await this.#answer({ ...judgedByOthers(deferred), haproxy }, context);
  }

  /** The answer about a render whose content HAProxy has judged before: for the render gate alone. */
  recall(deferred: Deferred, verdict: Verdict, context: HookContext): Promise<Evaluation> {
    return this.#answer({ ...judgedByOthers(deferred), haproxy: { verdict, judgeMs: 0 } }, context);
  }

  /** The one way out for a verdict: looks a last time whether it is wanted, then tells observers. */
  async #answer(
    { candidate: { rendered }, renderMs, haproxy, others }: AllJudged,
    context: HookContext,
  ): Promise<Evaluation> {
    const { hooks, remarks } = this.#parts;
    const judged = combineVerdicts([haproxy.verdict, others.verdict]);
    const verdict = { ...judged, findings: [...judged.findings, ...((await remarks?.()) ?? [])] };
    check(context);
    const judgeMs = haproxy.judgeMs + others.judgeMs;
    if (verdict.kind !== 'interrupted') {
      hooks.judged.call(rendered.plan, verdict, { durationMs: judgeMs, caller: context.caller });
    }
    return { rendered, verdict, haproxy: haproxy.verdict, durations: { renderMs, judgeMs } };
  }

  async #candidate(
    subject: RenderSubject,
    context: HookContext,
  ): Promise<{ readonly candidate: Candidate; readonly renderMs: number }> {
    const { rendered, renderMs } = await this.#render(subject, context);
    const { config, view, fleet } = subject;
    return { candidate: Object.freeze({ rendered, config, view, fleet }), renderMs };
  }

  async #judge(kinds: readonly JudgeKind[], candidate: Candidate, context: HookContext): Promise<Judged> {
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

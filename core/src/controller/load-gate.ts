import {
  Refused,
  type Clock,
  type Contents,
  type HookContext,
  type Hooks,
  type JudgeBinary,
  type MergedConfig,
  type RenderInput,
  type Verdict,
} from '../contract/index.ts';
import type { Evaluation, Pipeline } from '../pipeline/index.ts';
import { isOfRetainedProfile } from '../plan/index.ts';
import {
  evaluateAround,
  evaluating,
  type Draft,
  type Failure,
  type Quarantine,
} from '../quarantine/index.ts';
import { refuseFailures, testConfig } from '../validation-tests/index.ts';
import type { Candidate } from './config-loader.ts';
import { GateRefusal } from './gate-refusal.ts';
import type { Promotion } from './promotion.ts';
import { refusalError } from './refusal-error.ts';
import { unservedOf, type Accepted, type Serving } from './serving.ts';
import { verdictError } from './verdict-error.ts';

export interface LoadGateParts {
  readonly pipeline: Pipeline;
  readonly hooks: Pick<Hooks, 'validate'>;
  readonly judge: JudgeBinary;
  readonly clock: Clock;
  readonly promotion: Pick<Promotion, 'first'>;
  readonly quarantine: Pick<Quarantine, 'draft'>;
}

/** What a render is about besides the configuration and the objects. */
export type Surroundings = Omit<RenderInput, 'config' | 'view'>;

/** What a configuration passed with. Objects that are held on the way are so once somebody keeps the draft. */
export interface GatePassed extends Accepted {
  readonly draft: Draft;
}

/**
 * Everything that stands between a configuration and its first render: structure, templates, its own tests, a render over the live
 * store, all judges. One answer, and none halfway. Objects that are refused are held, where the configuration is not what is wrong.
 *
 * @throws Refused for a configuration that must not serve, Retry when a judge gave no verdict.
 */
export async function passLoadGate(
  parts: LoadGateParts,
  candidate: Candidate,
  surroundings: Surroundings,
  context: HookContext,
): Promise<GatePassed> {
  const unserved = unservedOf(candidate);
  const config = await passTests(parts, candidate, surroundings, context);
  return await passOverObjects(parts, { ...candidate, config, unserved }, surroundings, context);
}

/** The part that depends on the live objects: a render, and all judges. @throws as `passLoadGate` */
export async function passOverObjects(
  parts: LoadGateParts,
  serving: Serving,
  surroundings: Surroundings,
  context: HookContext,
): Promise<GatePassed> {
  const { watching, config } = serving;
  const input = { config, view: watching.view(), ...surroundings };
  const last: { around?: Evaluated } = {};
  const { evaluation, contents } = await parts.promotion.first(async (contents) => {
    last.around = await aroundObjects(parts, { ...input, contents }, context);
    return last.around.evaluation;
  }, context.signal);
  if (evaluation.verdict.kind === 'interrupted') throw verdictError(evaluation.verdict);
  const { draft, subject, refusal } = last.around!;
  if (refusal !== undefined) throw refusal;
  return { serving, input: { ...subject, contents }, evaluation, revision: input.view.revision, draft };
}

/** Structure, templates, and the tests that the configuration brings. */
async function passTests(
  { pipeline, hooks, judge, clock }: LoadGateParts,
  { merged, watching }: Candidate,
  { fleet }: Surroundings,
  context: HookContext,
): Promise<MergedConfig> {
  const served = ({ watch }: { readonly watch: string }): boolean => watching.isServed(watch);
  const config = prepared(() => pipeline.prepare(merged, served).config);
  const judging = { ...fleet, haproxyVersion: await judge.version() };
  const under = { pipeline, hooks, clock, merged, served, fleet: judging, judge };
  refuseFailures(await testConfig(under, context));
  return config;
}

/** Templates that do not compile are what is written wrong, whatever the gate would say. */
function prepared(prepare: () => MergedConfig): MergedConfig {
  try {
    return prepare();
  } catch (error) {
    throw error instanceof Refused ? new GateRefusal('ConfigInvalid', error.problems) : error;
  }
}

/** HAProxy's word against a configuration has a name of its own. */
function named(refusal: Refused, { findings }: Verdict): Refused {
  const isHaproxys = findings.some(({ phase, severity }) => phase === 'haproxy' && severity === 'error');
  return isHaproxys ? new GateRefusal('HAProxyValidationFailed', refusal.problems) : refusal;
}

interface Evaluated {
  readonly evaluation: Evaluation;
  readonly subject: RenderInput;
  readonly draft: Draft;
  /** Why it is refused all the same. */
  readonly refusal?: Error;
}

function isOfRetained(failure: Failure): boolean {
  if (failure.kind !== 'verdict') return false;
  return failure.verdict.findings.some(
    ({ severity, provenance }) =>
      severity === 'error' && provenance !== undefined && isOfRetainedProfile(provenance),
  );
}

async function aroundObjects(
  parts: LoadGateParts,
  input: RenderInput & { readonly contents: Contents },
  context: HookContext,
): Promise<Evaluated> {
  const { pipeline, quarantine } = parts;
  const draft = quarantine.draft(input);
  const around = await evaluateAround(draft, input, evaluating(pipeline, context));
  if (around.kind === 'evaluated') return { evaluation: around.value, subject: around.subject, draft };
  const { failure } = around;
  if (input.retainedProfiles !== undefined && isOfRetained(failure)) {
    // Nobody has them, so no configuration is to blame for them.
    const { retainedProfiles: _, ...rest } = input;
    return await aroundObjects(parts, rest, context);
  }
  const refusal = refusalError(around);
  if (failure.kind !== 'verdict') throw refusal;
  const { rendered, verdict } = failure;
  const evaluation = { rendered, verdict, haproxy: verdict, durations: { renderMs: 0, judgeMs: 0 } };
  return { evaluation, subject: input, draft, refusal: named(refusal, verdict) };
}

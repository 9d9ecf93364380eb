import { mergeFixtures } from '../config/fixtures.ts';
import { GLOBAL_TEST, type Fixtures, type MergedConfig, type ValidationTest } from '../contract/config.ts';
import { Cancelled, Refused } from '../contract/errors.ts';
import type { JudgeKind, Verdict } from '../contract/finding.ts';
import { didYouMean } from '../contract/nearest.ts';
import { mergeJson } from '../contract/merge-json.ts';
import type { JsonObject } from '../contract/object.ts';
import type { Clock } from '../contract/observability.ts';
import type { Rendered } from '../contract/render-plan.ts';
import type { StoreView } from '../contract/view.ts';
import { compareVersions } from '../templates/names/versions.ts';
import { judgeAssertion, verdictFailure } from './assertions.ts';
import type { RenderOutcome, TestReport, TestResult } from './outcome.ts';

/** One test with everything that it shares with others filled in. */
export interface PreparedTest {
  readonly name: string;
  readonly test: ValidationTest;
  /** The configuration's own object where no test says otherwise. */
  readonly settings: JsonObject;
}

/** Who judges a test's render, and what it was rendered from. */
export interface Asked {
  readonly kinds: readonly JudgeKind[];
  readonly view: StoreView;
  readonly settings: JsonObject;
}

export interface TestRun {
  /** After `resolveRequires`. */
  readonly config: MergedConfig;
  /** Only these tests. @throws Refused for a name that is none. */
  readonly only?: readonly string[];
  /** A view that holds the fixtures and nothing else. */
  readonly viewOf: (fixtures: Fixtures) => StoreView;
  /** @throws Refused, Cancelled */
  readonly render: (view: StoreView, settings: JsonObject, prepared: PreparedTest) => Promise<Rendered>;
  /** Asks the judges of these kinds. */
  readonly judge: (rendered: Rendered, asked: Asked) => Promise<Verdict>;
  /** Of the judge's binary; tests for newer ones are skipped. Undefined: none is. */
  readonly haproxyVersion?: string;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** How many tests run at a time. */
  readonly concurrency?: number;
}

const DEFAULT_CONCURRENCY = 4;

/** Other judges see every render; `haproxy -c` costs a process and is asked where a test claims something about it. */
function kindsFor({ assertions }: ValidationTest): readonly JudgeKind[] {
  const asksHaproxy = assertions.some(({ type }) => type === 'haproxy_valid');
  return asksHaproxy ? ['haproxy', 'external', 'custom'] : ['external', 'custom'];
}

function prepare(config: MergedConfig, name: string): PreparedTest & { readonly fixtures: Fixtures } {
  const shared = config.validationTests[GLOBAL_TEST];
  const test = config.validationTests[name]!;
  const over = mergeJson(shared?.settings ?? {}, test.settings);
  return {
    name,
    test,
    fixtures: mergeFixtures(shared?.fixtures ?? {}, test.fixtures),
    settings: Object.keys(over).length === 0 ? config.settings : mergeJson(config.settings, over),
  };
}

/** A render that templates refuse is an outcome; one that did not come to an end is none. */
async function outcomeOf(
  run: TestRun,
  prepared: PreparedTest & { readonly fixtures: Fixtures },
): Promise<RenderOutcome> {
  const view = run.viewOf(prepared.fixtures);
  let rendered: Rendered;
  try {
    rendered = await run.render(view, prepared.settings, prepared);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return { kind: 'refused', message: error.message };
  }
  const { settings, test } = prepared;
  return {
    kind: 'rendered',
    rendered,
    verdict: await run.judge(rendered, { kinds: kindsFor(test), view, settings }),
  };
}

/** What other judges say fails a test that claims nothing about them. */
function unclaimedFailure({ assertions }: ValidationTest, outcome: RenderOutcome): string | undefined {
  const claimed = assertions.some(({ type }) => type === 'haproxy_valid');
  return claimed || outcome.kind === 'refused' ? undefined : verdictFailure(outcome.verdict);
}

type Judged = Pick<TestResult, 'status' | 'reason' | 'assertions'>;

function skipReason(
  { minHAProxyVersion: least }: ValidationTest,
  version: string | undefined,
): string | undefined {
  if (least === undefined || version === undefined || compareVersions(version, least) >= 0) return undefined;
  return `needs HAProxy ${least}, this is ${version}`;
}

async function judgeTest(run: TestRun, name: string): Promise<Judged> {
  const prepared = prepare(run.config, name);
  const { test } = prepared;
  const skip = skipReason(test, run.haproxyVersion);
  if (skip !== undefined) return { status: 'skipped', reason: skip, assertions: [] };
  const outcome = await outcomeOf(run, prepared);
  const assertions = test.assertions.map((assertion) => judgeAssertion(assertion, outcome));
  const reason = unclaimedFailure(test, outcome);
  const failed = reason !== undefined || assertions.some(({ failure }) => failure !== undefined);
  return { status: failed ? 'failed' : 'passed', assertions, ...(reason === undefined ? {} : { reason }) };
}

/** A test that could not be judged has failed, and says why; one that was called off is no result at all. */
async function runTest(run: TestRun, name: string): Promise<TestResult> {
  const started = run.clock.now();
  let judged: Judged;
  try {
    judged = await judgeTest(run, name);
  } catch (error) {
    if (error instanceof Cancelled) throw error;
    judged = {
      status: 'failed',
      reason: error instanceof Error ? error.message : String(error),
      assertions: [],
    };
  }
  if (run.signal.aborted)
    throw new Cancelled('validation tests were called off', { cause: run.signal.reason });
  const { source } = run.config.validationTests[name]!.origin;
  return { name, source, ...judged, durationMs: run.clock.now() - started };
}

function namesOf({ config, only }: TestRun): readonly string[] {
  const names = Object.keys(config.validationTests)
    .filter((name) => name !== GLOBAL_TEST)
    .toSorted((a, b) => (a < b ? -1 : 1));
  const unknown = (only ?? []).filter((name) => !names.includes(name));
  if (unknown.length > 0) {
    const problems = unknown.map((name) => ({
      where: '',
      message: `no test "${name}"${didYouMean(name, names)}`,
    }));
    throw new Refused(problems);
  }
  return only === undefined ? names : names.filter((name) => only.includes(name));
}

function summary(tests: readonly TestResult[], durationMs: number): TestReport {
  const count = (status: TestResult['status']): number =>
    tests.filter((test) => test.status === status).length;
  return { tests, passed: count('passed'), failed: count('failed'), skipped: count('skipped'), durationMs };
}

/**
 * Runs the tests that a configuration brings, several at a time.
 *
 * @throws Cancelled when the signal aborts: part of the answer is no answer.
 */
export async function runValidationTests(run: TestRun): Promise<TestReport> {
  const started = run.clock.now();
  const names = namesOf(run);
  const results: TestResult[] = [];
  const queue = names.values();
  const work = async (): Promise<void> => {
    for (const name of queue) results.push(await runTest(run, name));
  };
  const workers = await Promise.allSettled(
    Array.from({ length: run.concurrency ?? DEFAULT_CONCURRENCY }, work),
  );
  for (const worker of workers) if (worker.status === 'rejected') throw worker.reason;
  const tests = results.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return summary(tests, run.clock.now() - started);
}

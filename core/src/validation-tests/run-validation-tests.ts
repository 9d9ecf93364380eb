import type { ValidationTest } from '../contract/config.ts';
import { Bug, Cancelled, Refused } from '../contract/errors.ts';
import type { JudgeKind } from '../contract/finding.ts';
import type { Rendered } from '../contract/render-plan.ts';
import { RenderAwaitsContent } from '../templates/errors.ts';
import { compareVersions } from '../templates/names/versions.ts';
import { judgeAssertion, type Trials } from './assertions.ts';
import type { AssertionResult, RenderOutcome, TestReport, TestResult } from './outcome.ts';
import { prepareTest, testNames, type PreparedTest } from './prepare-test.ts';
import type { TestStage } from './stage.ts';
import { Trial } from './trial.ts';
import { verdictFailure } from './verdict-failure.ts';

const DEFAULT_CONCURRENCY = 4;

function claimsValid({ assertions }: ValidationTest): boolean {
  return assertions.some(({ type }) => type === 'haproxy_valid');
}

/** Other judges see every render; `haproxy -c` costs a process and is asked where a test claims something about it. */
function kindsFor(test: ValidationTest, { noHaproxy }: TestStage): readonly JudgeKind[] {
  return claimsValid(test) && noHaproxy === undefined
    ? ['haproxy', 'external', 'custom']
    : ['external', 'custom'];
}

/** What other judges say fails a test that claims nothing about them. */
function unclaimedFailure(test: ValidationTest, outcome: RenderOutcome): string | undefined {
  return claimsValid(test) || outcome.kind === 'refused'
    ? undefined
    : verdictFailure(outcome.verdict, outcome.rendered);
}

type Judged = Pick<TestResult, 'status' | 'reason' | 'assertions' | 'isInterrupted'>;

function statusOf(reason: string | undefined, assertions: readonly AssertionResult[]): TestResult['status'] {
  if (reason !== undefined || assertions.some(({ failure }) => failure !== undefined)) return 'failed';
  return assertions.some((assertion) => assertion.unjudged !== undefined) ? 'unjudged' : 'passed';
}

function skipReason(
  { config: { controller }, haproxyVersion: version }: TestStage,
  { name, test: { minHAProxyVersion: least } }: PreparedTest,
): string | undefined {
  if (controller.skipTests.includes(name)) return 'the configuration leaves it out (controller.skipTests)';
  if (least === undefined || version === undefined || compareVersions(version, least) >= 0) return undefined;
  return `needs HAProxy ${least}, this is ${version}`;
}

/** Of a render that failed nothing is tried. */
const NO_TRIALS: Trials = {
  noHaproxy: undefined,
  deterministic: () => Promise.reject(new Bug('nothing was rendered')),
  route: () => Promise.reject(new Bug('nothing was rendered')),
};

async function judgeAll({ test }: PreparedTest, outcome: RenderOutcome, trials: Trials): Promise<Judged> {
  const assertions: AssertionResult[] = [];
  for (const assertion of test.assertions) assertions.push(await judgeAssertion(assertion, outcome, trials));
  const reason = unclaimedFailure(test, outcome);
  return { status: statusOf(reason, assertions), assertions, ...(reason !== undefined && { reason }) };
}

async function judgeTest(stage: TestStage, name: string): Promise<Judged> {
  const prepared = prepareTest(stage.config, name);
  const { test } = prepared;
  const skip = skipReason(stage, prepared);
  if (skip !== undefined) return { status: 'skipped', reason: skip, assertions: [] };
  let rendered: Rendered;
  try {
    rendered = await stage.render({ prepared });
  } catch (error) {
    // A render that templates refuse is an outcome; one that did not come to an end is none.
    if (!(error instanceof Refused)) throw error;
    return await judgeAll(prepared, { kind: 'refused', message: error.message }, NO_TRIALS);
  }
  stage.observer?.rendered?.(name, rendered);
  const verdict = await stage.judge(rendered, prepared, kindsFor(test, stage));
  await using trial = new Trial(stage, prepared, rendered);
  const judged = await judgeAll(prepared, { kind: 'rendered', rendered, verdict }, trial);
  return verdict.kind === 'interrupted' ? { ...judged, isInterrupted: true } : judged;
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (!(error instanceof RenderAwaitsContent)) return error.message;
  return `${error.message}\nnothing is fetched in a test: give it what templates need under "httpResources"`;
}

/** A test that could not be judged has failed, and says why; one that was called off is no result at all. */
async function runTest(stage: TestStage, name: string): Promise<TestResult> {
  const started = stage.clock.now();
  let judged: Judged;
  try {
    judged = await judgeTest(stage, name);
  } catch (error) {
    if (error instanceof Cancelled) throw error;
    judged = { status: 'failed', reason: reasonOf(error), assertions: [] };
  }
  if (stage.signal.aborted)
    throw new Cancelled('validation tests were called off', { cause: stage.signal.reason });
  const { source } = stage.config.validationTests[name]!.origin;
  return { name, source, ...judged, durationMs: stage.clock.now() - started };
}

function summary(tests: readonly TestResult[], durationMs: number): TestReport {
  const count = (status: TestResult['status']): number =>
    tests.filter((test) => test.status === status).length;
  return {
    tests,
    passed: count('passed'),
    failed: count('failed'),
    skipped: count('skipped'),
    unjudged: count('unjudged'),
    durationMs,
  };
}

/**
 * Runs the tests that a configuration brings, several at a time: renders take turns on one thread, and go on while judges and
 * HAProxy processes are waited for.
 *
 * @throws Cancelled when the signal aborts: part of the answer is no answer.
 */
export async function runValidationTests(stage: TestStage): Promise<TestReport> {
  const started = stage.clock.now();
  const names = testNames(stage.config, stage.only);
  const results: TestResult[] = [];
  const queue = names.values();
  const work = async (): Promise<void> => {
    for (const name of queue) {
      const result = await runTest(stage, name);
      results.push(result);
      stage.observer?.finished?.(result, { done: results.length, all: names.length });
    }
  };
  const workers = await Promise.allSettled(
    Array.from({ length: stage.concurrency ?? DEFAULT_CONCURRENCY }, work),
  );
  for (const worker of workers) if (worker.status === 'rejected') throw worker.reason;
  const tests = results.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return summary(tests, stage.clock.now() - started);
}

import { Refused, Retry, type Problem } from '../contract/errors.ts';
import type { AssertionResult, TestReport, TestResult } from './outcome.ts';

interface Failure {
  readonly where: string;
  /** The author's words for what should have held. */
  readonly description?: string | undefined;
  readonly failure: string;
}

function assertionWhere(test: TestResult, { type, target }: AssertionResult, index: number): string {
  const what = target === undefined ? type : `${type} ${target}`;
  return `validation test "${test.name}" (${test.source}), assertion ${index + 1} (${what})`;
}

function failuresOf(test: TestResult): readonly Failure[] {
  const whole =
    test.reason === undefined
      ? []
      : [{ where: `validation test "${test.name}" (${test.source})`, failure: test.reason }];
  const single = test.assertions.flatMap((assertion, index) => {
    const { unjudged, failure = unjudged, description } = assertion;
    return failure === undefined
      ? []
      : [{ where: assertionWhere(test, assertion, index), description, failure }];
  });
  return [...whole, ...single];
}

/** One mistake in a template fails every assertion of every test; it is said once, where it is met first. */
function problem([first, ...more]: readonly Failure[]): Problem {
  const { where, description, failure } = first!;
  return {
    where: more.length === 0 ? where : `${where} and ${more.length} more`,
    message: description === undefined ? failure : `${description}: ${failure}`,
  };
}

/**
 * For gates: a configuration whose tests fail must not serve, nor one whose tests nobody could judge.
 *
 * @throws Refused with everything that failed; Retry where nothing did but that a judge gave no verdict.
 */
export function refuseFailures(report: TestReport): void {
  const failed = report.tests.filter(({ status }) => status === 'failed' || status === 'unjudged');
  if (failed.length === 0) return;
  const failures = Map.groupBy(failed.flatMap(failuresOf), ({ failure }) => failure);
  const refused = new Refused([...failures.values()].map(problem));
  throw failed.every(({ isInterrupted }) => isInterrupted) ? new Retry(refused.message) : refused;
}

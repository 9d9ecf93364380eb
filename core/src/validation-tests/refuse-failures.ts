import { Refused, type Problem } from '../contract/errors.ts';
import type { AssertionResult, TestReport, TestResult } from './outcome.ts';

function assertionWhere(test: TestResult, { type, target }: AssertionResult, index: number): string {
  const what = target === undefined ? type : `${type} ${target}`;
  return `validation test "${test.name}" (${test.source}), assertion ${index + 1} (${what})`;
}

function problemsOf(test: TestResult): readonly Problem[] {
  const whole =
    test.reason === undefined
      ? []
      : [{ where: `validation test "${test.name}" (${test.source})`, message: test.reason }];
  const single = test.assertions.flatMap((assertion, index) => {
    const { failure, description } = assertion;
    if (failure === undefined) return [];
    const message = description === undefined ? failure : `${description}: ${failure}`;
    return [{ where: assertionWhere(test, assertion, index), message }];
  });
  return [...whole, ...single];
}

/** For gates: a configuration whose tests fail must not serve. @throws Refused with everything that failed. */
export function refuseFailures(report: TestReport): void {
  const failed = report.tests.filter(({ status }) => status === 'failed');
  if (failed.length > 0) throw new Refused(failed.flatMap(problemsOf));
}

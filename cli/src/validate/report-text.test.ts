import { describe, expect, it } from 'vitest';
import type { TestReport } from '@haptic/core/validation-tests';
import { reportLines } from './report-text.ts';

const plain = (_tone: string, text: string): string => text;

describe('the summary of a validation', () => {
  it.each([
    [{ passed: 2 }, 'the configuration is valid; tests: 2 passed, 0 failed, 0 skipped (7 ms)'],
    [
      { passed: 1, failed: 1, unjudged: 1 },
      'the configuration fails its tests; tests: 1 passed, 1 failed, 0 skipped, 1 not judged (7 ms)',
    ],
    [
      { passed: 1, unjudged: 1 },
      'the configuration could not be judged as a whole; tests: 1 passed, 0 failed, 0 skipped, 1 not judged (7 ms)',
    ],
  ] satisfies [Partial<TestReport> & Pick<TestReport, 'passed'>, string][])(
    'says of %j what it is worth',
    (counts, line) => {
      const report = { tests: [], failed: 0, skipped: 0, unjudged: 0, durationMs: 7, ...counts };
      expect(reportLines(report, plain).at(-1)).toBe(line);
    },
  );
});

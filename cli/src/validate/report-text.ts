import type { AssertionResult, TestReport, TestResult } from '@haptic/core/validation-tests';
import type { Style, Tone } from '../terminal.ts';

const tones: Readonly<Record<TestResult['status'], Tone>> = {
  passed: 'good',
  failed: 'bad',
  skipped: 'warn',
  unjudged: 'warn',
};

/** What a status is called. */
const words: Readonly<Record<TestResult['status'], string>> = {
  passed: 'passed',
  failed: 'failed',
  skipped: 'skipped',
  unjudged: 'not judged',
};

function claim({ type, target, description }: AssertionResult): string {
  return description ?? [type, target].filter(Boolean).join(' ');
}

/** What is wrong with an assertion, or keeps it from being judged. */
export function complaint({ failure, unjudged }: AssertionResult): string | undefined {
  return failure ?? (unjudged === undefined ? undefined : `not judged: ${unjudged}`);
}

/** What is wrong with several assertions is told once, below the last of them. */
export function complaintLines(assertions: readonly AssertionResult[]): readonly string[] {
  const complaints = Map.groupBy(
    assertions.filter((assertion) => complaint(assertion) !== undefined),
    (assertion) => complaint(assertion)!,
  );
  return [...complaints].flatMap(([text, those]) => [
    ...those.map((assertion) => `  ${claim(assertion)}`),
    text.replaceAll(/^/gm, '    '),
  ]);
}

function testLines({ name, source, status, reason, assertions }: TestResult, style: Style): string[] {
  const head = `${style(tones[status], words[status])} ${name} (${source})`;
  return [reason === undefined ? head : `${head}: ${reason}`, ...complaintLines(assertions)];
}

function summary(failed: number, unjudged: number): string {
  if (failed > 0) return 'the configuration fails its tests';
  return unjudged > 0 ? 'the configuration could not be judged as a whole' : 'the configuration is valid';
}

/** A line a test with what is wrong with it below, and a summary. */
export function reportLines(
  { tests, passed, failed, skipped, unjudged, durationMs }: TestReport,
  style: Style,
): string[] {
  const counts = [`${passed} passed`, `${failed} failed`, `${skipped} skipped`];
  if (unjudged > 0) counts.push(`${unjudged} not judged`);
  return [
    ...tests.flatMap((test) => testLines(test, style)),
    `${summary(failed, unjudged)}; tests: ${counts.join(', ')} (${Math.round(durationMs)} ms)`,
  ];
}

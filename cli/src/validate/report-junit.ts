import type { TestReport, TestResult } from '@haptic/core/validation-tests';
import type { ValidatorStatus } from '../validator-status.ts';
import { complaintLines } from './report-text.ts';

type Outcome = {
  readonly kind: 'failure' | 'error' | 'skipped';
  readonly message: string;
  readonly text: string;
};

interface Case {
  readonly name: string;
  readonly seconds: number;
  readonly outcome?: Outcome;
}

interface Suite {
  readonly name: string;
  readonly cases: readonly Case[];
}

/** Characters that XML 1.0 has no way to write. */
const unwritable =
  /[\0-\x08\x0B\x0C\x0E-\x1F\uFFFE\uFFFF]|[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g;

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\n': '&#10;',
  '\r': '&#13;',
  '\t': '&#9;',
};

function text(value: string): string {
  return value.replaceAll(unwritable, '\uFFFD').replaceAll(/[&<>]/g, (char) => entities[char]!);
}

function attributes(values: Readonly<Record<string, string | number>>): string {
  return Object.entries(values)
    .map(([name, value]) => {
      const plain = String(value).replaceAll(unwritable, '\uFFFD');
      return ` ${name}="${plain.replaceAll(/[&<>"\n\r\t]/g, (char) => entities[char]!)}"`;
    })
    .join('');
}

function outcomeOf({ status, reason, assertions }: TestResult, allowSkip: boolean): Outcome | undefined {
  const lines = [...(reason === undefined ? [] : [reason]), ...complaintLines(assertions)].join('\n');
  const first = reason ?? assertions.find(({ failure }) => failure !== undefined)?.failure;
  switch (status) {
    case 'passed':
      return undefined;
    case 'skipped':
      return { kind: 'skipped', message: reason ?? '', text: '' };
    case 'unjudged':
      return { kind: allowSkip ? 'skipped' : 'error', message: 'not judged', text: lines };
    case 'failed':
      return { kind: 'failure', message: first?.split('\n')[0] ?? 'it failed', text: lines };
  }
}

function validatorCase(validator: ValidatorStatus): Case {
  const base = { name: validator.name, seconds: 0 };
  if (validator.status === 'not judged')
    return { ...base, outcome: { kind: 'error', message: 'not judged', text: validator.problem } };
  return validator.status === 'reachable'
    ? base
    : { ...base, outcome: { kind: 'skipped', message: 'left out as asked', text: '' } };
}

function suitesOf(report: TestReport, validators: readonly ValidatorStatus[], allowSkip: boolean): Suite[] {
  const bySource = Map.groupBy(report.tests, ({ source }) => source);
  const suites = [...bySource].map(([name, tests]) => ({
    name,
    cases: tests.map((test) => {
      const outcome = outcomeOf(test, allowSkip);
      return { name: test.name, seconds: test.durationMs / 1000, ...(outcome && { outcome }) };
    }),
  }));
  return validators.length === 0
    ? suites
    : [...suites, { name: 'external validators', cases: validators.map(validatorCase) }];
}

function totals(cases: readonly Case[], seconds: number): Readonly<Record<string, string | number>> {
  const count = (kind: Outcome['kind']): number =>
    cases.filter(({ outcome }) => outcome?.kind === kind).length;
  return {
    tests: cases.length,
    failures: count('failure'),
    errors: count('error'),
    skipped: count('skipped'),
    time: seconds.toFixed(3),
  };
}

function caseLines({ name, seconds, outcome }: Case, classname: string): readonly string[] {
  const open = `    <testcase${attributes({ name, classname, time: seconds.toFixed(3) })}`;
  if (outcome === undefined) return [`${open}/>`];
  const { kind, message } = outcome;
  const type = kind === 'skipped' ? {} : { type: kind };
  const tag = `      <${kind}${attributes({ message, ...type })}`;
  const body = outcome.text === '' ? `${tag}/>` : `${tag}>${text(outcome.text)}</${kind}>`;
  return [`${open}>`, body, '    </testcase>'];
}

function suiteLines({ name, cases }: Suite): readonly string[] {
  const seconds = cases.reduce((sum, each) => sum + each.seconds, 0);
  return [
    `  <testsuite${attributes({ name, ...totals(cases, seconds) })}>`,
    ...cases.flatMap((each) => caseLines(each, name)),
    '  </testsuite>',
  ];
}

/** The report as CI servers read it: a suite for each source of tests, and one for external validators. */
export function junitReport(
  report: TestReport,
  validators: readonly ValidatorStatus[],
  allowSkip: boolean,
): string {
  const suites = suitesOf(report, validators, allowSkip);
  const all = suites.flatMap(({ cases }) => cases);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites${attributes({ name: 'haptic validate', ...totals(all, report.durationMs / 1000) })}>`,
    ...suites.flatMap(suiteLines),
    '</testsuites>',
  ].join('\n');
}

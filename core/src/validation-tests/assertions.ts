import { parsePattern } from '../config/pattern.ts';
import type { Assertion } from '../contract/config.ts';
import type { Verdict } from '../contract/finding.ts';
import { firstDifference, lineAt, MOST_LINES, showLine, similarLines } from './excerpts.ts';
import type { AssertionResult, RenderOutcome } from './outcome.ts';
import { targetText } from './target-text.ts';

type TextAssertion = Extract<Assertion, { readonly target: string }>;

/** What a text assertion finds: a sentence, and lines to show below it where the text is no secret. */
interface Failure {
  readonly sentence: string;
  readonly lines: readonly string[];
}

/** Offsets of all matches. */
function matchesOf(text: string, pattern: string): readonly number[] {
  const matcher = parsePattern(pattern).matcher(text);
  const offsets: number[] = [];
  while (matcher.find()) offsets.push(matcher.start());
  return offsets;
}

function matchedLines(text: string, offsets: readonly number[]): readonly string[] {
  const lines = text.split('\n');
  const shown = offsets.slice(0, MOST_LINES).map((offset) => showLine(lines, lineAt(text, offset)));
  return offsets.length > MOST_LINES ? [...shown, `  … ${offsets.length - MOST_LINES} more`] : shown;
}

function textFailure(assertion: TextAssertion, text: string): Failure | undefined {
  if (assertion.type === 'equals') {
    if (text === assertion.expected) return undefined;
    return {
      sentence: `${assertion.target} is another text`,
      lines: firstDifference(assertion.expected, text),
    };
  }
  const { pattern, target } = assertion;
  const matches = matchesOf(text, pattern);
  switch (assertion.type) {
    case 'contains': {
      if (matches.length > 0) return undefined;
      const similar = similarLines(text, pattern);
      const hint = similar.length > 0 ? ['similar lines:', ...similar] : [];
      return { sentence: `no match of /${pattern}/ in ${target}`, lines: hint };
    }
    case 'not_contains':
      if (matches.length === 0) return undefined;
      return { sentence: `a match of /${pattern}/ in ${target}`, lines: matchedLines(text, matches) };
    case 'match_count': {
      if (matches.length === assertion.expected) return undefined;
      const sentence = `${matches.length} matches of /${pattern}/ in ${target}, expected ${assertion.expected}`;
      return { sentence, lines: matchedLines(text, matches) };
    }
  }
}

function judgeText(assertion: TextAssertion, outcome: RenderOutcome): string | undefined {
  const found = targetText(outcome, assertion.target);
  if (found.kind === 'none') return found.reason;
  const failure = textFailure(assertion, found.text);
  if (failure === undefined) return undefined;
  return [failure.sentence, ...(found.secret ? ['(its text is secret)'] : failure.lines)].join('\n');
}

function judgeError(outcome: RenderOutcome, pattern: string | undefined): string | undefined {
  if (outcome.kind === 'rendered') return 'it rendered without an error';
  if (pattern === undefined || matchesOf(outcome.message, pattern).length > 0) return undefined;
  return `the error does not match /${pattern}/:\n${outcome.message}`;
}

/** The errors among a verdict's findings, as they were said. */
export function verdictFailure(verdict: Verdict): string | undefined {
  if (verdict.kind === 'passed') return undefined;
  const errors = verdict.findings
    .filter(({ severity }) => severity === 'error')
    .map(({ judge, path, line, message }) => {
      const place = path === undefined ? '' : `${path}${line === undefined ? '' : `:${line}`}: `;
      return `${judge}: ${place}${message}`;
    });
  return [
    verdict.kind === 'refused' ? 'it was refused' : `there is no verdict: ${verdict.reason}`,
    ...errors,
  ].join('\n');
}

function judgeValid(outcome: RenderOutcome): string | undefined {
  return outcome.kind === 'refused'
    ? `rendering failed: ${outcome.message}`
    : verdictFailure(outcome.verdict);
}

function failureOf(assertion: Assertion, outcome: RenderOutcome): string | undefined {
  switch (assertion.type) {
    case 'haproxy_valid':
      return judgeValid(outcome);
    case 'rendering_error':
      return judgeError(outcome, assertion.pattern);
    case 'contains':
    case 'not_contains':
    case 'equals':
    case 'match_count':
      return judgeText(assertion, outcome);
  }
}

/** Whether an assertion holds of what became of its test's render. */
export function judgeAssertion(assertion: Assertion, outcome: RenderOutcome): AssertionResult {
  const failure = failureOf(assertion, outcome);
  return {
    type: assertion.type,
    ...(assertion.description === undefined ? {} : { description: assertion.description }),
    ...('target' in assertion ? { target: assertion.target } : {}),
    ...(failure === undefined ? {} : { failure }),
  };
}

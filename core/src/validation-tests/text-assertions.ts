import { parsePattern } from '../config/pattern.ts';
import type { Assertion } from '../contract/config.ts';
import { firstDifference, lineAt, MOST_LINES, showDifference, showLine, similarLines } from './excerpts.ts';
import { fails, HOLDS, type Judgement, type RenderOutcome } from './outcome.ts';
import { targetText, type TargetText } from './target-text.ts';

export type TextAssertion = Extract<
  Assertion,
  { readonly type: 'contains' | 'not_contains' | 'equals' | 'match_count' | 'match_order' }
>;

/** What a text assertion finds: a sentence, and lines to show below it where they are no secret. */
interface Failure {
  readonly sentence: string;
  readonly lines: readonly string[];
}

interface Looked {
  readonly text: string;
  readonly shown: readonly string[];
}

interface Match {
  readonly start: number;
  readonly end: number;
}

function matchesOf(text: string, pattern: string): readonly Match[] {
  const matcher = parsePattern(pattern).matcher(text);
  const matches: Match[] = [];
  while (matcher.find()) matches.push({ start: matcher.start(), end: matcher.end() });
  return matches;
}

export function isMatched(text: string, pattern: string): boolean {
  return parsePattern(pattern).matcher(text).find();
}

function matchedLines({ text, shown }: Looked, matches: readonly Match[]): readonly string[] {
  const lines = matches.slice(0, MOST_LINES).map(({ start }) => showLine(shown, lineAt(text, start)));
  return matches.length > MOST_LINES ? [...lines, `  … ${matches.length - MOST_LINES} more`] : lines;
}

function missing({ shown }: Looked, pattern: string, sentence: string): Failure {
  const similar = similarLines(shown, pattern);
  return { sentence, lines: similar.length > 0 ? ['similar lines:', ...similar] : [] };
}

/** Each pattern must match behind the match of the one before it. */
function orderFailure(looked: Looked, target: string, patterns: readonly string[]): Failure | undefined {
  let from = 0;
  let before: string | undefined;
  for (const pattern of patterns) {
    const matches = matchesOf(looked.text, pattern);
    const next = matches.find(({ start }) => start >= from);
    if (next === undefined) {
      const sentence = `no match of /${pattern}/ in ${target}`;
      if (matches.length === 0) return missing(looked, pattern, sentence);
      return {
        sentence: `${sentence} after that of /${before}/, only before`,
        lines: matchedLines(looked, matches),
      };
    }
    from = next.end;
    before = pattern;
  }
  return undefined;
}

function textFailure(assertion: TextAssertion, looked: Looked): Failure | undefined {
  const { text, shown } = looked;
  const { target } = assertion;
  if (assertion.type === 'equals') {
    if (text === assertion.expected) return undefined;
    const wanted = assertion.expected.split('\n');
    const at = firstDifference(wanted, text.split('\n'));
    return { sentence: `${target} is another text`, lines: showDifference(at, wanted, shown) };
  }
  if (assertion.type === 'match_order') return orderFailure(looked, target, assertion.patterns);
  const { pattern } = assertion;
  const matches = matchesOf(text, pattern);
  switch (assertion.type) {
    case 'contains':
      if (matches.length > 0) return undefined;
      return missing(looked, pattern, `no match of /${pattern}/ in ${target}`);
    case 'not_contains':
      if (matches.length === 0) return undefined;
      return { sentence: `a match of /${pattern}/ in ${target}`, lines: matchedLines(looked, matches) };
    case 'match_count': {
      if (matches.length === assertion.expected) return undefined;
      const sentence = `${matches.length} matches of /${pattern}/ in ${target}, expected ${assertion.expected}`;
      return { sentence, lines: matchedLines(looked, matches) };
    }
  }
}

function explained({ sentence, lines }: Failure, { shown }: Extract<TargetText, { kind: 'text' }>): string {
  return [sentence, ...(shown === undefined ? ['(its text is secret)'] : lines)].join('\n');
}

export function judgeText(assertion: TextAssertion, outcome: RenderOutcome): Judgement {
  const found = targetText(outcome, assertion.target);
  if (found.kind === 'none') return fails(found.reason);
  const failure = textFailure(assertion, { text: found.text, shown: found.shown ?? [] });
  return failure === undefined ? HOLDS : fails(explained(failure, found));
}

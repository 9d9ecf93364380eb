import type { Assertion, RouteExpectation, RouteRequest } from '../contract/config.ts';
import { judgeData } from './data-assertions.ts';
import {
  fails,
  HOLDS,
  unjudged,
  type AssertionResult,
  type Judgement,
  type RenderOutcome,
} from './outcome.ts';
import { describeRequest } from './route-answer.ts';
import { isMatched, judgeText } from './text-assertions.ts';
import { isRefusedByHaproxy, verdictFailure } from './verdict-failure.ts';

/** What it takes to judge claims that no look at one render answers. */
export interface Trials {
  /** Why HAProxy cannot be asked; undefined where it can. */
  readonly noHaproxy: string | undefined;
  deterministic(): Promise<Judgement>;
  route(request: RouteRequest, expect: RouteExpectation): Promise<Judgement>;
}

function judgeError(outcome: RenderOutcome, pattern: string | undefined): Judgement {
  if (outcome.kind === 'rendered') return fails('it rendered without an error');
  if (pattern === undefined || isMatched(outcome.message, pattern)) return HOLDS;
  return fails(`the error does not match /${pattern}/:\n${outcome.message}`);
}

/** Claims that only a render can fulfil. */
async function judgeRendered(
  assertion: Extract<Assertion, { readonly type: 'haproxy_valid' | 'deterministic' | 'routes' }>,
  outcome: RenderOutcome,
  trials: Trials,
): Promise<Judgement> {
  if (outcome.kind === 'refused') return fails(`rendering failed: ${outcome.message}`);
  if (assertion.type === 'deterministic') return await trials.deterministic();
  if (trials.noHaproxy !== undefined) return unjudged(trials.noHaproxy);
  if (assertion.type === 'routes') {
    // Why is said once, where the test claims that the files are valid.
    if (isRefusedByHaproxy(outcome.verdict)) return fails('HAProxy refuses the files, so nobody answers');
    return await trials.route(assertion.request, assertion.expect);
  }
  const failure = verdictFailure(outcome.verdict, outcome.rendered);
  return failure === undefined ? HOLDS : fails(failure);
}

async function judgementOf(assertion: Assertion, outcome: RenderOutcome, trials: Trials): Promise<Judgement> {
  switch (assertion.type) {
    case 'haproxy_valid':
    case 'deterministic':
    case 'routes':
      return await judgeRendered(assertion, outcome, trials);
    case 'rendering_error':
      return judgeError(outcome, assertion.pattern);
    case 'jsonpath':
      return judgeData(assertion, outcome);
    case 'contains':
    case 'not_contains':
    case 'equals':
    case 'match_count':
    case 'match_order':
      return judgeText(assertion, outcome);
  }
}

/** Whether an assertion holds of what became of its test's render. */
export async function judgeAssertion(
  assertion: Assertion,
  outcome: RenderOutcome,
  trials: Trials,
): Promise<AssertionResult> {
  const judgement = await judgementOf(assertion, outcome, trials);
  return {
    type: assertion.type,
    ...(assertion.description === undefined ? {} : { description: assertion.description }),
    ...('target' in assertion ? { target: assertion.target } : {}),
    ...(assertion.type === 'routes' && { target: describeRequest(assertion.request) }),
    ...(judgement.kind === 'fails' && { failure: judgement.failure }),
    ...(judgement.kind === 'unjudged' && { unjudged: judgement.reason }),
  };
}

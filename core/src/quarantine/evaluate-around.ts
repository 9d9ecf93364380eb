import { Refused, type HookContext, type Rendered, type Verdict } from '../contract/index.ts';
import type { Evaluation, Pipeline, RenderSubject } from '../pipeline/index.ts';
import { Investigation, type Blame } from './blame.ts';
import type { Failure } from './complaints.ts';
import type { Draft } from './draft.ts';

/** Renders and judges in whatever way; a render that is refused is thrown. */
export type Attempt<T> = (subject: RenderSubject) => Promise<{
  readonly value: T;
  readonly rendered: Rendered;
  /** Undefined while it is not complete. */
  readonly verdict?: Verdict;
}>;

/** Whom the last word is about, where it was refused all the same. */
export type Culprit = Extract<Blame, { readonly reason: string }>;

export type Around<T> =
  /** Nobody refuses it, maybe after some objects were held. Kept only when the draft is. */
  | { readonly kind: 'evaluated'; readonly value: T; readonly subject: RenderSubject; readonly draft: Draft }
  /** It can not be mended by holding objects: all of it is to be held. */
  | { readonly kind: 'refused'; readonly failure: Failure; readonly culprit: Culprit };

/** Rounds of one evaluation: a render that fails names one object at a time. */
const MOST_ROUNDS = 64;

/** From then on whatever is new of their namespaces is held with those that are named: it would else end with everybody waiting. */
const PATIENT_ROUNDS = 8;

/**
 * Evaluates, and again without the objects that are refused, until nobody refuses anything or it is no object's fault.
 *
 * @param first What is known to be refused already.
 * @throws Cancelled, and whatever is no verdict on what users wrote.
 */
export async function evaluateAround<T>(
  draft: Draft,
  subject: RenderSubject,
  attempt: Attempt<T>,
  first?: Failure,
): Promise<Around<T>> {
  const investigation = new Investigation(draft);
  let failure = first;
  for (let round = 0; ; round++) {
    if (failure !== undefined) {
      const blame = round > MOST_ROUNDS ? tooMany(failure) : investigation.blame(failure);
      if (blame.kind === 'configuration' || blame.kind === 'unknown')
        return { kind: 'refused', failure, culprit: blame };
      if (blame.kind === 'objects')
        draft.hold(round < PATIENT_ROUNDS ? blame.accused : draft.withNeighbours(blame.accused));
    }
    const tried = { ...subject, view: draft.view };
    const outcome = await attemptOnce(tried, attempt);
    if (outcome.failure === undefined)
      return { kind: 'evaluated', value: outcome.value, subject: tried, draft };
    failure = outcome.failure;
  }
}

function tooMany(failure: Failure): Blame {
  const what = failure.kind === 'render' ? failure.error.message : 'objects are refused one after the other';
  return { kind: 'unknown', reason: `after ${MOST_ROUNDS} rounds: ${what}` };
}

type Outcome<T> = { readonly failure: Failure } | { readonly failure?: never; readonly value: T };

async function attemptOnce<T>(subject: RenderSubject, attempt: Attempt<T>): Promise<Outcome<T>> {
  const { view } = subject;
  try {
    const { value, rendered, verdict } = await attempt(subject);
    if (verdict?.kind !== 'refused') return { value };
    return { failure: { kind: 'verdict', verdict, rendered, view } };
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return { failure: { kind: 'render', error, view } };
  }
}

/** All judges, at once. */
export function evaluating(pipeline: Pick<Pipeline, 'evaluate'>, context: HookContext): Attempt<Evaluation> {
  return async (subject) => {
    const value = await pipeline.evaluate(subject, context);
    return { value, rendered: value.rendered, verdict: value.verdict };
  };
}

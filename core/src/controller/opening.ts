import { hasNewSecretText, type HookContext, type RenderInput } from '../contract/index.ts';
import type { Evaluation, Opening, Pipeline } from '../pipeline/index.ts';
import type { Attempt } from '../quarantine/index.ts';
import type { Dispatcher } from './dispatcher.ts';
import type { Promotion } from './promotion.ts';

export interface OpeningParts {
  readonly pipeline: Pipeline;
  readonly promotion: Pick<Promotion, 'isUnproven'>;
  readonly dispatcher: Pick<Dispatcher, 'latched' | 'latch' | 'note' | 'recall'>;
}

/** One render on the reconcile path: judged completely where that must be, or by all but HAProxy. */
export function opening(parts: OpeningParts, context: HookContext): Attempt<Opening> {
  return async (input) => {
    const value = await open(parts, input, context);
    if (value.kind === 'deferred') return { value, rendered: value.deferred.candidate.rendered };
    const { rendered, verdict } = value.evaluation;
    parts.dispatcher.note(value.evaluation);
    if (value.evaluation.haproxy.kind === 'refused') parts.dispatcher.latch();
    return { value, rendered, verdict };
  };
}

async function open(
  { pipeline, promotion, dispatcher }: OpeningParts,
  input: RenderInput,
  context: HookContext,
): Promise<Opening> {
  if (dispatcher.latched !== undefined) return settled(await pipeline.evaluate(input, context));
  const first = await pipeline.evaluateDeferring(input, context);
  if (first.kind === 'settled') return first;
  const { deferred } = first;
  const { rendered } = deferred.candidate;
  // A pod's HAProxy that refuses a secret line would print it.
  const isFirstUse =
    promotion.isUnproven(rendered, input.contents) || hasNewSecretText(rendered.plan, input.current);
  // It may have latched while the others judged.
  if (isFirstUse || dispatcher.latched !== undefined)
    return settled(await pipeline.settle(deferred, context));
  const known = await dispatcher.recall(deferred, context);
  return known === undefined ? first : settled(known);
}

function settled(evaluation: Evaluation): Opening {
  return { kind: 'settled', evaluation };
}

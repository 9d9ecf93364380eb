import {
  Cancelled,
  type HookContext,
  type Proposal,
  type ProposalAnswer,
  type RenderInput,
} from '../contract/index.ts';
import type { Evaluation, Pipeline } from '../pipeline/index.ts';
import { overlay } from '../store/index.ts';
import { verdictError } from './verdict-error.ts';

type Judged =
  | { readonly kind: 'judged'; readonly evaluation: Evaluation }
  | { readonly kind: 'failed'; readonly error: Error };

/**
 * Judges one proposed change of a watched object on what is served, everybody at once. The proposal itself is never held. It is
 * allowed without a pass only where it changes nothing about a fault that is there already: the live state is refused as well, and
 * both renders are the same. A deletion is judged for its warnings; it always takes effect.
 *
 * @param served The view with every held object replaced.
 * @throws Cancelled
 */
export async function judgeProposal(
  pipeline: Pick<Pipeline, 'evaluate'>,
  served: RenderInput,
  proposal: Proposal,
  context: HookContext,
): Promise<ProposalAnswer> {
  const proposed = await judged(pipeline, { ...served, view: overlay(served.view, [proposal]) }, context);
  if (proposed.kind === 'failed') return 'delete' in proposal ? TAKES_EFFECT : denied(proposed.error);
  const { rendered, verdict } = proposed.evaluation;
  if (verdict.kind === 'passed' || 'delete' in proposal) return { allowed: true, findings: verdict.findings };
  if (verdict.kind === 'interrupted') return denied(verdictError(verdict));
  const live = await judged(pipeline, served, context);
  const isNoWorse =
    live.kind === 'judged' &&
    live.evaluation.verdict.kind === 'refused' &&
    live.evaluation.rendered.plan.id === rendered.plan.id;
  return isNoWorse ? { allowed: true, findings: verdict.findings } : denied(verdictError(verdict));
}

const TAKES_EFFECT: ProposalAnswer = Object.freeze({ allowed: true, findings: [] });

function denied(error: Error): ProposalAnswer {
  return { allowed: false, error };
}

async function judged(
  pipeline: Pick<Pipeline, 'evaluate'>,
  input: RenderInput,
  context: HookContext,
): Promise<Judged> {
  try {
    return { kind: 'judged', evaluation: await pipeline.evaluate(input, context) };
  } catch (error) {
    if (error instanceof Cancelled || !(error instanceof Error)) throw error;
    return { kind: 'failed', error };
  }
}

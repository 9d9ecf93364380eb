import type { HookContext } from '../contract/index.ts';
import type { Pipeline, RenderSubject } from '../pipeline/index.ts';
import { evaluateAround, evaluating } from './evaluate-around.ts';
import type { Quarantine } from './quarantine.ts';

/**
 * Tries what waits to be tried by itself, beside the reconciles: nobody's change waits for it.
 *
 * @returns whether something may go out with the next reconcile
 * @throws Cancelled, and whatever is no verdict on what users wrote; then it is still to be tried
 */
export async function tryOnTheSide(
  pipeline: Pick<Pipeline, 'evaluate'>,
  quarantine: Quarantine,
  subject: RenderSubject,
  context: HookContext,
): Promise<boolean> {
  const trial = quarantine.trials(subject);
  if (trial.size === 0) return false;
  const draft = quarantine.draft(subject, trial);
  const around = await evaluateAround(draft, subject, evaluating(pipeline, context));
  if (around.kind === 'evaluated' && around.value.verdict.kind === 'interrupted') return false;
  quarantine.tried(draft, trial, around.kind === 'evaluated' ? 'passed' : 'refused');
  return around.kind === 'evaluated' && [...trial].some((key) => !draft.fresh.has(key));
}

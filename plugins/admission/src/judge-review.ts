import {
  Cancelled,
  Refused,
  type ControllerAccess,
  type Finding,
  type KubeObject,
  type MergedConfig,
  type ObjectInterests,
  type Proposal,
  type ProposalAnswer,
  type StoreView,
} from '@haptic/core/contract';
import { apiVersionOf, proposedObject, type ReviewAnswer, type ReviewRequest } from './review.ts';
import { isSelected, namesItsSecret } from './selection.ts';
import type { Turns } from './turns.ts';

export interface ReviewJudge {
  readonly controller: Pick<ControllerAccess, 'status' | 'judgeProposal'>;
  /** Knows foreign objects; without it none are. */
  readonly interests: Pick<ObjectInterests, 'isWanted'> | undefined;
  /** Of those who make the controller render. */
  readonly turns: Turns;
}

const ALLOWED: ReviewAnswer = Object.freeze({ allowed: true });

/**
 * What every judge says to a change that somebody asks the API server for. What nobody here watches, or is somebody else's, is not
 * judged: there is nothing to say about it.
 */
export async function judgeReview(
  { controller, interests, turns }: ReviewJudge,
  request: ReviewRequest,
  signal: AbortSignal,
): Promise<ReviewAnswer> {
  const { config, input } = controller.status();
  if (config === undefined || input === undefined) return unanswered('no configuration serves yet');
  const watches = watchesOf(config, request);
  const proposed = proposedObject(request);
  const isWanted = proposed !== undefined && interests?.isWanted(request.resource, proposed) !== false;
  const proposals = watches.flatMap((watch) => {
    const content = config.watchedResources[watch]!;
    const isOurs = isWanted || namesItsSecret(content);
    const isSeen = isOurs && proposed !== undefined && isSelected(content, proposed);
    return proposal(watch, request, isSeen ? proposed : undefined, input.view);
  });
  let warnings: readonly string[] = [];
  for (const one of proposals) {
    const answer = await judge(() => turns.take(signal, () => controller.judgeProposal(one, signal)), signal);
    if (!answer.allowed) return answer;
    warnings = [...warnings, ...(answer.warnings ?? [])];
  }
  return warnings.length === 0 ? ALLOWED : { allowed: true, warnings: [...new Set(warnings)] };
}

/** Watches whose configuration asks for judgement of this kind, and that see this namespace. */
function watchesOf({ watchedResources }: MergedConfig, request: ReviewRequest): readonly string[] {
  const { resource, namespace } = request;
  const apiVersion = apiVersionOf(request);
  return Object.entries(watchedResources)
    .filter(
      ([, watch]) =>
        watch.admission &&
        watch.resources === resource.resource &&
        watch.apiVersions.includes(apiVersion) &&
        (watch.namespaces.length === 0 || namespace === undefined || watch.namespaces.includes(namespace)),
    )
    .map(([name]) => name);
}

/** An object that this watch does not see any more goes from what is served; one that never was is no change. */
function proposal(
  watch: string,
  { namespace = '', name }: ReviewRequest,
  object: KubeObject | undefined,
  view: StoreView,
): readonly Proposal[] {
  if (object !== undefined) return [{ watch, object }];
  const isHere =
    name !== undefined &&
    view.watches.includes(watch) &&
    view.watch(watch).get(namespace, name) !== undefined;
  return isHere ? [{ watch, delete: { namespace, name } }] : [];
}

async function judge(ask: () => Promise<ProposalAnswer>, signal: AbortSignal): Promise<ReviewAnswer> {
  try {
    const answer = await ask();
    if (answer.allowed) return { allowed: true, warnings: answer.findings.map(describe) };
    return answer.error instanceof Refused
      ? { allowed: false, code: 403, message: answer.error.message }
      : unanswered(answer.error.message);
  } catch (error) {
    if (error instanceof Cancelled && !signal.aborted) throw error;
    return unanswered(signal.aborted ? 'the judges did not answer in time' : (error as Error).message);
  }
}

/** Nobody has judged it: that is no permission. */
function unanswered(why: string): ReviewAnswer {
  return { allowed: false, code: 503, message: `not judged, so not admitted: ${why}; try again` };
}

function describe({ judge: name, message, path, line }: Finding): string {
  const where = path === undefined ? '' : ` (${path}${line === undefined ? '' : `:${line}`})`;
  return `${name}: ${message}${where}`;
}

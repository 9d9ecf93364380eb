import { Refused, Retry, type Problem } from '../contract/index.ts';
import type { Around, Failure } from '../quarantine/index.ts';
import type { RenderError } from '../templates/errors.ts';
import { verdictError } from './verdict-error.ts';

function problemsOf(failure: Failure): readonly Problem[] {
  if (failure.kind === 'render') return failure.error.problems;
  if (failure.kind === 'pod') return [{ where: '', message: `a pod's HAProxy: ${failure.message}` }];
  const error = verdictError(failure.verdict);
  return error instanceof Retry ? [] : error.problems;
}

function namesObjects(failure: Failure): boolean {
  if (failure.kind === 'render') return failure.error.problems.some(({ objects = [] }) => objects.length > 0);
  if (failure.kind === 'pod') return false;
  return failure.verdict.findings.some(({ provenance }) => (provenance?.objects.length ?? 0) > 0);
}

/** Why a render is refused that holding objects does not mend. */
export function refusalError({
  failure,
  culprit,
}: Extract<Around<unknown>, { readonly kind: 'refused' }>): Refused {
  const problems = problemsOf(failure);
  // Where no object is named nobody needs to be told that none is to blame.
  if (culprit.kind === 'unknown' || !namesObjects(failure))
    return withRequests(new Refused(problems), failure);
  const reason = { where: '', message: `the configuration is to blame, not objects: ${culprit.reason}` };
  return withRequests(new Refused([...problems, reason]), failure);
}

/** Contents that the templates asked for before they failed are fetched all the same. */
function withRequests(refusal: Refused, failure: Failure): Refused {
  const requests = failure.kind === 'render' ? (failure.error as Partial<RenderError>).requests : undefined;
  return requests === undefined ? refusal : Object.assign(refusal, { requests });
}

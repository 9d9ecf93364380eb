import { apiErrorOf, isApiError, type ApiError } from './api-error.ts';

/**
 * What an API server refused until rights or credentials are others, for a person to mend; undefined for all other failures, also of a
 * namespace that ends: it takes nothing new from anybody.
 */
export function refusalOf(error: unknown): ApiError | undefined {
  const answer = apiErrorOf(error);
  if (answer?.code === 401) return answer;
  return answer?.code === 403 && !endsItsNamespace(answer) ? answer : undefined;
}

/** A right that is missing has the same status: the server tells this apart in words alone. */
export function endsItsNamespace(error: unknown): boolean {
  return isApiError(error, 403) && error.message.includes('is being terminated');
}

/** Of more, one reads no more: where a right is missing it is mostly the same one. */
const MOST = 5;

/** What is refused, in one text of a bounded length; undefined where nothing is. */
export function refusalProblem(refusals: readonly string[]): string | undefined {
  const different = [...new Set(refusals)];
  if (different.length === 0) return undefined;
  const more = different.length - MOST;
  return [...different.slice(0, MOST), ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
}

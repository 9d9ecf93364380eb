import { Retry } from '@haptic/core/contract';
import { apiErrorOf } from '@haptic/kube';

/** Something is left to do. Unlike other failures that pass it is known what has become of each request, unless it says otherwise. */
export class Later extends Retry {
  readonly unanswered: boolean;

  /** @param options `cause`: what has to be mended for it, where that is known. */
  constructor(
    message: string,
    { unanswered = false, cause }: { readonly unanswered?: boolean; readonly cause?: Error | undefined } = {},
  ) {
    super(message, { cause });
    this.unanswered = unanswered;
  }
}

/** Whether a request may have been carried out, or may be later on. */
export function isUnanswered(error: unknown): boolean {
  if (error instanceof Later) return error.unanswered;
  const answer = apiErrorOf(error);
  // A server that ran out of time, or a proxy before it, does not know either.
  return answer === undefined ? error instanceof Retry : answer.code >= 500;
}

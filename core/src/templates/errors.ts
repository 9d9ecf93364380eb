import {
  formatProblem,
  Refused,
  Retry,
  type ContentRequest,
  type ObjectRef,
  type Problem,
} from '../contract/index.ts';

/** A render that failed because of what a template says about the data it got. */
export class RenderError extends Refused {
  /** The objects that were being rendered, where the template names them. */
  readonly objects: readonly ObjectRef[];
  /** Contents that were asked for up to there. */
  readonly requests: readonly ContentRequest[];

  constructor(
    problem: Problem,
    objects: readonly ObjectRef[],
    {
      requests = [],
      cause,
    }: { readonly requests?: readonly ContentRequest[]; readonly cause?: unknown } = {},
  ) {
    super([objects.length === 0 ? problem : { ...problem, objects }]);
    this.objects = objects;
    this.requests = requests;
    this.cause = cause;
  }
}

/** A render that cannot be made before a content is there. Whatever object asked for it, nobody is to blame. */
export class RenderAwaitsContent extends Retry {
  /** Contents that were asked for up to there. */
  readonly requests: readonly ContentRequest[];

  constructor(problem: Problem, requests: readonly ContentRequest[], options?: ErrorOptions) {
    super(formatProblem(problem), options);
    this.requests = requests;
  }
}

/** A render that took longer than its deadline. */
export class RenderTimeout extends Error {
  override readonly name = 'RenderTimeout';
  /** `snippet:line:column` of what was running. */
  readonly where: string;

  constructor(where: string, deadlineMs: number) {
    super(`${where}: the render took longer than ${deadlineMs} ms`);
    this.where = where;
  }
}

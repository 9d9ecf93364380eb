/** An attempt that brought nothing. `forbidden`: the rules say no, so that to try again soon would be no use. */
export class FetchFailure extends Error {
  override readonly name = 'FetchFailure';
  readonly forbidden: boolean;
  /** What the server asked for, milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(
    message: string,
    {
      forbidden = false,
      retryAfterMs,
      cause,
    }: {
      readonly forbidden?: boolean;
      readonly retryAfterMs?: number | undefined;
      readonly cause?: unknown;
    } = {},
  ) {
    super(message, { cause });
    this.forbidden = forbidden;
    this.retryAfterMs = retryAfterMs;
  }
}

export function forbidden(message: string): FetchFailure {
  return new FetchFailure(message, { forbidden: true });
}

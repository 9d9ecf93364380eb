/** The answer of an API server that is not a success, from its `Status` object where it sent one. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** HTTP status. */
  readonly code: number;
  /** A word of the API such as `AlreadyExists`, `Expired`, `Conflict`; empty when the answer was not an API server's. */
  readonly reason: string;
  /** Milliseconds that the server asks to wait, from `Retry-After`. */
  readonly retryAfter: number | undefined;

  constructor(
    code: number,
    reason: string,
    message: string,
    options: { readonly retryAfter?: number | undefined; readonly cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.code = code;
    this.reason = reason;
    this.retryAfter = options.retryAfter;
  }
}

export function isApiError(error: unknown, code: number): error is ApiError {
  return error instanceof ApiError && error.code === code;
}

/** Of a chain of causes. */
const MOST_CAUSES = 10;

/** What a server said, also where others have put it into words of their own; undefined when it was no answer that failed. */
export function apiErrorOf(error: unknown): ApiError | undefined {
  let current = error;
  for (let depth = 0; depth < MOST_CAUSES && current instanceof Error; depth += 1) {
    if (current instanceof ApiError) return current;
    current = current.cause;
  }
  return undefined;
}

interface StatusFields {
  readonly code?: unknown;
  readonly reason?: unknown;
  readonly message?: unknown;
  readonly details?: { readonly retryAfterSeconds?: unknown };
}

/** A `Status` object, as a body or as the object of an `ERROR` event of a watch. */
export function statusError(status: unknown, httpCode: number, where: string, retryAfter?: number): ApiError {
  const fields: StatusFields = typeof status === 'object' && status !== null ? status : {};
  const code = typeof fields.code === 'number' ? fields.code : httpCode;
  const reason = typeof fields.reason === 'string' ? fields.reason : '';
  const message = typeof fields.message === 'string' ? fields.message : 'no message';
  const seconds = fields.details?.retryAfterSeconds;
  const wait = retryAfter ?? (typeof seconds === 'number' && seconds > 0 ? seconds * 1000 : undefined);
  return new ApiError(code, reason, `${where}: ${code} ${reason}: ${message}`, { retryAfter: wait });
}

/** Milliseconds of a `Retry-After` header: seconds or a date. */
export function parseRetryAfter(header: string | undefined, wall: number): number | undefined {
  if (header === undefined || header.trim() === '') return undefined;
  const seconds = Number(header);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - wall);
}

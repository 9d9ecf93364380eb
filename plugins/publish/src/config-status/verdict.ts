import {
  formatProblem,
  redactText,
  Refused,
  type ConfigVersion,
  type Rejection,
  type RejectionReason,
} from '@haptic/core/contract';

/** What is to be said about one version of the config. */
export interface ConfigVerdict {
  readonly version: ConfigVersion;
  readonly reason: 'ValidationSucceeded' | RejectionReason;
  /** Everything that is wrong; empty for an accepted one. */
  readonly errors: readonly string[];
}

const MOST_ERRORS = 50;
/** Characters. */
const LONGEST_ERROR = 1_000;

export function acceptance(version: ConfigVersion): ConfigVerdict {
  return { version, reason: 'ValidationSucceeded', errors: [] };
}

/** Bounded, since an object has limits, and without what looks like a secret. */
export function rejection(
  error: Error,
  { reason, version }: Rejection & { version: ConfigVersion },
): ConfigVerdict {
  const texts = error instanceof Refused ? error.problems.map(formatProblem) : [error.message];
  const shown = texts.slice(0, MOST_ERRORS).map((text) => shorten(redactText(text)));
  const left = texts.length - shown.length;
  return { version, reason, errors: left > 0 ? [...shown, `… and ${left} more`] : shown };
}

function shorten(text: string): string {
  return text.length > LONGEST_ERROR ? `${text.slice(0, LONGEST_ERROR)} …` : text;
}

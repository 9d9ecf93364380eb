import type { ObjectRef } from './object.ts';

/** Codes of errors that a plugin or its place among others causes; docs/errors.md says what each means and how to mend it. */
export const PLUGIN_ERROR_CODES = [
  'PLUGIN_IMPORT',
  'PLUGIN_API',
  'PLUGIN_OPTIONS',
  'PLUGIN_ORDER',
  'PLUGIN_SET',
  'PLUGIN_SETUP',
  'PLUGIN_HOOK',
  'PLUGIN_TIMEOUT',
  'PLUGIN_SERVICE',
  'PLUGIN_DISPOSE',
] as const;
export type PluginErrorCode = (typeof PLUGIN_ERROR_CODES)[number];

/** A failure with the plugin, and where known the hook, that caused it. */
export class PluginError extends Error {
  override readonly name = 'PluginError';
  readonly code: PluginErrorCode;
  readonly plugin: string;
  readonly hook: string | undefined;

  constructor(
    code: PluginErrorCode,
    plugin: string,
    message: string,
    options: { readonly hook?: string; readonly cause?: unknown } = {},
  ) {
    super(`${plugin}: ${message}`, { cause: options.cause });
    this.code = code;
    this.plugin = plugin;
    this.hook = options.hook;
  }
}

/** One thing that is wrong with what a user wrote: where, what, and what was expected. */
export interface Problem {
  /** `file:line:column`, `snippet:line:column` or a path such as `spec.maps.host`. */
  readonly where: string;
  readonly message: string;
  /** Lines to show below the message: the source line and its caret. */
  readonly excerpt?: string;
  /** The watched objects that it is about, where it is about any. */
  readonly objects?: readonly ObjectRef[];
}

/** A verdict on what a user wrote. Theirs to mend; never retried; all problems at once. */
export class Refused extends Error {
  override readonly name = 'Refused';
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[] | string) {
    const list = typeof problems === 'string' ? [{ where: '', message: problems }] : problems;
    super(list.map(formatProblem).join('\n'));
    this.problems = list;
  }
}

/** Why a configuration set is not whole yet: a library is not there, or not in the revision that the config refers to. */
export type HoldReason = 'LibraryMissing' | 'RevisionMismatch';

/**
 * Why a configuration must not serve, as a word. `ConfigInvalid`: what is written is wrong. `LoadGateFailed`: its tests, its render
 * over the live objects, or a judge that is not HAProxy.
 */
export type RejectionReason = HoldReason | 'ConfigInvalid' | 'HAProxyValidationFailed' | 'LoadGateFailed';

/** The set is in the middle of a change. What serves goes on serving; the source says when there is something new. */
export class Held extends Refused {
  readonly reason: HoldReason;

  constructor(reason: HoldReason, problems: readonly Problem[]) {
    super(problems);
    this.reason = reason;
  }
}

/** `where: message`, with the excerpt below. */
export function formatProblem(problem: Problem): string {
  const head = problem.where === '' ? problem.message : `${problem.where}: ${problem.message}`;
  return problem.excerpt === undefined ? head : `${head}\n${problem.excerpt}`;
}

/** A passing condition: try again with back-off. */
export class Retry extends Error {
  override readonly name = 'Retry';
}

/** Work that was called off: no verdict, no event, no metric of a result. */
export class Cancelled extends Error {
  override readonly name = 'Cancelled';
  constructor(message = 'cancelled', options?: ErrorOptions) {
    super(message, options);
  }
}

/** A broken assumption of ours. Logged with its stack, counted; what serves goes on serving. */
export class Bug extends Error {
  override readonly name = 'Bug';
}

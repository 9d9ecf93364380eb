import { HookMap } from 'tapable';
import type { JudgeKind } from '../contract/finding.ts';
import { PluginError } from '../contract/errors.ts';
import { GuardedTap, type GuardFacts, type HookFacts, type Run } from './guarded-tap.ts';

/** As much of tapable's hooks as the host needs to know of any hook. */
export interface AnyHook {
  readonly taps: readonly { readonly name: string }[];
  tap(options: string | object, fn: Run): void;
  tapPromise(options: string | object, fn: Run): void;
  intercept(interceptor: { register(tap: RegisteredTap): RegisteredTap }): void;
}

export interface RegisteredTap {
  readonly name: string;
  readonly type: 'sync' | 'async' | 'promise';
  readonly fn: unknown;
  readonly before?: unknown;
  readonly stage?: number;
  readonly deadlineMs?: number | undefined;
}

/** The keys of a HookMap: a plugin taps the hook of the kind that it declares. */
export const JUDGE_KINDS: readonly JudgeKind[] = ['haproxy', 'external', 'custom'];

/** A synchronous hook cannot wait: tapable leaves `call` out of the others. */
export function isSync(hook: AnyHook): boolean {
  return typeof (hook as { readonly call?: unknown }).call === 'function';
}

export interface NamedHook {
  /** Its key in the set. */
  readonly key: string;
  /** As errors and metrics name it: `validate:haproxy` for a hook of a HookMap. */
  readonly name: string;
  readonly hook: AnyHook;
  readonly judges: boolean;
}

export function eachHook(hooks: object): NamedHook[] {
  return Object.entries(hooks).flatMap(([key, hook]: [string, unknown]): NamedHook[] => {
    if (!(hook instanceof HookMap)) return [{ key, name: key, hook: hook as AnyHook, judges: false }];
    return JUDGE_KINDS.map((kind) => ({
      key,
      name: `${key}:${kind}`,
      hook: hook.for(kind) as AnyHook,
      judges: true,
    }));
  });
}

/**
 * Puts the host's rules around every tap, those already made included: attribution, deadline, metrics, and what a failure means.
 * tapable itself would lose a rejection of `tap`, put a tap with an unknown `before` first, and run hooks that were stopped.
 */
export function guardHook(hook: AnyHook, facts: HookFacts, guard: GuardFacts): void {
  const register = (tap: RegisteredTap): RegisteredTap => {
    checkTap(tap, facts.name);
    const guarded = new GuardedTap(tap.name, tap.fn as Run, tap.deadlineMs, facts, guard);
    const fn: Run =
      tap.type === 'sync' ? (...args) => guarded.call(args) : (...args) => guarded.promise(args);
    return { ...tap, fn };
  };
  hook.intercept({ register });
}

function checkTap(tap: RegisteredTap, hook: string): void {
  const refuse = (mend: string): never => {
    throw new PluginError('PLUGIN_API', tap.name, `${hook} was tapped wrongly: ${mend}`, { hook });
  };
  if (tap.type === 'async') refuse('use tapPromise instead of tapAsync');
  if (typeof tap.fn !== 'function') refuse('the second argument must be a function');
  if (tap.before !== undefined) refuse('`before` is not supported, name the other plugin in `after`');
  if (tap.stage !== undefined && tap.stage !== 0) refuse('`stage` is not supported, use `after`');
  if (tap.deadlineMs !== undefined && !(tap.deadlineMs > 0)) refuse('`deadlineMs` must be a positive number');
  if (tap.type === 'sync' && isAsyncFunction(tap.fn)) {
    refuse('tap takes a synchronous function, use tapPromise where the hook has it');
  }
}

function isAsyncFunction(fn: unknown): boolean {
  return Object.prototype.toString.call(fn) === '[object AsyncFunction]';
}

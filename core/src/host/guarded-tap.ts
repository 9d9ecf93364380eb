import { Bug, Cancelled, PluginError, Refused, Retry } from '../contract/errors.ts';
import type { Clock, Log, Meter, MetricDefinition } from '../contract/observability.ts';
import { DeadlineExceeded, withDeadline } from './deadline.ts';
import { isJudgeLedger, type JudgeLedger } from './judge-ledger.ts';
import type { PendingRuns } from './pending.ts';

/** The function of a tap, whatever its hook. */
export type Run = (...args: unknown[]) => unknown;

/** What a failure of a tap means: the caller's, nobody's, or an error finding. */
export type HookRole = 'stage' | 'observer' | 'judge';

/** Milliseconds, or worked out from the arguments of the call. */
export type Deadline = number | ((...args: never[]) => number);

export interface HookFacts {
  readonly name: string;
  readonly role: HookRole;
  readonly deadline: Deadline;
}

/** What the guards of one host share. */
export interface GuardFacts {
  readonly log: Log;
  readonly meter: Meter;
  readonly clock: Clock;
  readonly pending: PendingRuns;
  /** Aborted once the host stops: taps of a stopped host are not run. */
  readonly stopped: AbortSignal;
}

export const HOOK_DURATION: MetricDefinition = {
  name: 'haptic_plugin_hook_duration_seconds',
  help: 'How long a tap of a plugin took, failures included',
  labels: ['plugin', 'hook'],
};

const PLUGIN_ERRORS: MetricDefinition = {
  name: 'haptic_plugin_errors_total',
  help: 'Failures and time-outs of taps',
  labels: ['plugin', 'hook'],
};

interface Settlement {
  readonly args: readonly unknown[];
  done(result: unknown): unknown;
  failed(error: unknown): unknown;
}

/** One tap with the host's rules around it. */
export class GuardedTap {
  readonly #plugin: string;
  readonly #run: Run;
  readonly #ownDeadline: number | undefined;
  readonly #hook: HookFacts;
  readonly #guard: GuardFacts;

  constructor(plugin: string, run: Run, ownDeadline: number | undefined, hook: HookFacts, guard: GuardFacts) {
    this.#plugin = plugin;
    this.#run = run;
    this.#ownDeadline = ownDeadline;
    this.#hook = hook;
    this.#guard = guard;
  }

  call(args: readonly unknown[]): unknown {
    const settle = this.#settlement(args);
    let result: unknown;
    try {
      result = this.#measuredCall(settle.args);
    } catch (error) {
      return settle.failed(error);
    }
    return settle.done(result);
  }

  async promise(args: readonly unknown[]): Promise<unknown> {
    const settle = this.#settlement(args);
    let result: unknown;
    try {
      result = await this.#measuredPromise(settle.args);
    } catch (error) {
      return settle.failed(error);
    }
    return settle.done(result);
  }

  /** What the role of the hook makes of the tap's arguments, result and failure. */
  #settlement(args: readonly unknown[]): Settlement {
    const { role } = this.#hook;
    if (role === 'judge') {
      const record = this.#ledger(args).open(this.#plugin, signalOf(args));
      const own = [args[0], record.collector, ...args.slice(2)];
      return { args: own, done: () => record.finish(), failed: (error) => record.fail(error) };
    }
    if (role === 'observer') {
      return { args, done: () => undefined, failed: (error) => this.#logObserver(error) };
    }
    return { args, done: (result) => result, failed: rethrow };
  }

  #measuredCall(args: readonly unknown[]): unknown {
    const start = this.#guard.clock.now();
    try {
      this.#refuseWhenStopped();
      signalOf(args)?.throwIfAborted();
      return refusePromise(this.#run(...args));
    } catch (error) {
      throw this.#blame(error, signalOf(args));
    } finally {
      const took = this.#measure(start);
      if (took > this.#deadline(args)) {
        this.#guard.log.warn({ plugin: this.#plugin, hook: this.#hook.name, durationMs: took }, SLOW);
      }
    }
  }

  async #measuredPromise(args: readonly unknown[]): Promise<unknown> {
    const { clock, pending } = this.#guard;
    const start = clock.now();
    const outer = signalOf(args);
    try {
      this.#refuseWhenStopped();
      return await withDeadline(
        (signal) => {
          const work = this.#work(withSignal(args, signal));
          return pending.track(this.#plugin, this.#hook.name, work);
        },
        { ms: this.#deadline(args), signal: outer, clock },
      );
    } catch (error) {
      throw this.#blame(error, outer);
    } finally {
      this.#measure(start);
    }
  }

  /** As a promise whatever happens: a plugin in JavaScript may give `tapPromise` a function that throws. */
  async #work(args: readonly unknown[]): Promise<unknown> {
    return await this.#run(...args);
  }

  #refuseWhenStopped(): void {
    if (this.#guard.stopped.aborted) throw new Cancelled('the host has stopped');
  }

  #deadline(args: readonly unknown[]): number {
    if (this.#ownDeadline !== undefined) return this.#ownDeadline;
    const { deadline } = this.#hook;
    return typeof deadline === 'number' ? deadline : deadline(...(args as never[]));
  }

  #measure(start: number): number {
    const took = this.#guard.clock.now() - start;
    this.#guard.meter.observe(HOOK_DURATION, took / 1000, this.#labels());
    return took;
  }

  #labels(): { plugin: string; hook: string } {
    return { plugin: this.#plugin, hook: this.#hook.name };
  }

  /** The families of errors that say something other than "the plugin is broken" stay as they are. */
  #blame(cause: unknown, signal: AbortSignal | undefined): Error {
    if (cause instanceof Cancelled || cause instanceof Refused || cause instanceof Retry) return cause;
    if (signal?.aborted === true) return new Cancelled('cancelled', { cause });
    this.#guard.meter.count(PLUGIN_ERRORS, this.#labels());
    if (cause instanceof PluginError && cause.plugin === this.#plugin) return cause;
    const hook = this.#hook.name;
    const code = cause instanceof DeadlineExceeded ? 'PLUGIN_TIMEOUT' : 'PLUGIN_HOOK';
    const text = cause instanceof Error ? cause.message : String(cause);
    const message = code === 'PLUGIN_TIMEOUT' ? `${hook} ${text}` : `${hook} failed: ${text}`;
    return new PluginError(code, this.#plugin, message, { hook, cause });
  }

  #logObserver(error: unknown): void {
    if (error instanceof Cancelled) return;
    this.#guard.log.error({ ...this.#labels(), err: error }, 'an observer failed');
  }

  #ledger(args: readonly unknown[]): JudgeLedger {
    if (isJudgeLedger(args[1])) return args[1];
    throw new Bug(`${this.#hook.name} must be called with a judge ledger: use runJudges`);
  }
}

function rethrow(error: unknown): never {
  throw error;
}

const SLOW = 'a synchronous tap took longer than its deadline';

/** `tap` with a function that returns a promise would lose its rejection: tapable does not look at the result. */
function refusePromise(result: unknown): unknown {
  if (!(result instanceof Promise)) return result;
  result.catch(() => {});
  throw new TypeError(
    'tap was given a function that returns a promise, use tapPromise where the hook has it',
  );
}

/** By the convention of all hooks, a context with a signal is the last argument. */
function signalOf(args: readonly unknown[]): AbortSignal | undefined {
  const last = args.at(-1);
  if (typeof last !== 'object' || last === null || !('signal' in last)) return undefined;
  return last.signal instanceof AbortSignal ? last.signal : undefined;
}

function withSignal(args: readonly unknown[], signal: AbortSignal): readonly unknown[] {
  if (signalOf(args) === undefined) return args;
  return [...args.slice(0, -1), Object.freeze({ ...(args.at(-1) as object), signal })];
}

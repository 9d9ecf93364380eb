import { Cancelled, MAIN_CONFIG, Retry, type Rendered, type ReportedFinding } from '@haptic/core/contract';
import pLimit from 'p-limit';
import { readVersion } from './binary.ts';
import { findingsOf } from './findings.ts';
import { Launcher } from './process/launcher.ts';
import { describeEnd, type ProcessResult } from './process/run-process.ts';
import { Staging } from './staging.ts';

export interface JudgeOptions {
  /** Absolute path. */
  readonly binary: string;
  readonly concurrency: number;
  readonly timeout: number;
  readonly maxOutput: number;
}

/** Signals that a program sends to itself when it is broken: the configuration did it, and would do it again. */
const CRASHES: ReadonlySet<NodeJS.Signals> = new Set(['SIGSEGV', 'SIGABRT', 'SIGBUS', 'SIGILL', 'SIGFPE']);

/** Judges complete file sets with `haproxy -c`. */
export class Judge {
  readonly #options: JudgeOptions;
  readonly #staging: Staging;
  readonly #launcher: Launcher;
  readonly #slots: ReturnType<typeof pLimit>;
  /** Of its own, so that whoever waits for an answer never waits for one that nobody does. */
  readonly #backgroundSlot = pLimit(1);
  readonly #disposed = new AbortController();
  readonly #checks = new Set<Promise<unknown>>();
  #version: Promise<string> | undefined;

  constructor(options: JudgeOptions, staging = new Staging(), launcher = new Launcher()) {
    this.#options = options;
    this.#staging = staging;
    this.#launcher = launcher;
    this.#slots = pLimit(options.concurrency);
  }

  /** @throws Error when the program is not HAProxy. */
  version(): Promise<string> {
    this.#version ??= this.#readVersion().catch((error: unknown) => {
      // It may run the next time: a full process table, a file that is just being replaced.
      this.#version = undefined;
      throw error;
    });
    return this.#version;
  }

  /**
   * The findings of one check; an error among them refuses.
   * @param background Nobody waits for it.
   * @throws Cancelled when the signal aborts, also while waiting for a turn. @throws Retry when there is no answer.
   */
  async judge(
    rendered: Rendered,
    signal: AbortSignal,
    background = false,
  ): Promise<readonly ReportedFinding[]> {
    const either = AbortSignal.any([signal, this.#disposed.signal]);
    const slots = background ? this.#backgroundSlot : this.#slots;
    const check = slots(async () => {
      refuseAborted(either);
      return await this.#check(rendered, either);
    });
    this.#checks.add(check);
    const settled = (): void => void this.#checks.delete(check);
    check.then(settled, settled);
    return await unlessAborted(check, either);
  }

  /** Kills what runs and removes all files. */
  async dispose(): Promise<void> {
    this.#disposed.abort();
    await Promise.allSettled(this.#checks);
    await this.#launcher.dispose();
    await this.#staging.dispose();
  }

  async #check(rendered: Rendered, signal: AbortSignal): Promise<readonly ReportedFinding[]> {
    const result = await this.#staging.withTree(rendered.files, signal, (tree) =>
      this.#run(['-c', '-dr', '-C', tree, '-f', MAIN_CONFIG], signal),
    );
    return verdictOf(result, rendered);
  }

  async #readVersion(): Promise<string> {
    return readVersion(this.#options.binary, await this.#run(['-v'], this.#disposed.signal));
  }

  async #run(args: readonly string[], signal: AbortSignal): Promise<ProcessResult> {
    const { binary, timeout, maxOutput } = this.#options;
    const limits = { timeoutMs: timeout, maxOutput, signal };
    const result = await this.#launcher.run(binary, args, limits).catch((error: Error) => {
      throw new Retry(`cannot run ${binary}: ${error.message}`, { cause: error });
    });
    refuseAborted(signal);
    return result;
  }
}

function verdictOf(result: ProcessResult, rendered: Rendered): readonly ReportedFinding[] {
  if (result.kind === 'ended' && result.code === 0) return findingsOf(result.stderr, 'passed', rendered);
  if (result.kind === 'ended' && result.code === 1) return findingsOf(result.stderr, 'refused', rendered);
  if (result.kind === 'ended' && result.code === 2)
    return [...findingsOf(result.stderr, 'passed', rendered), NOTHING_TO_START];
  if (result.kind === 'crashed' && CRASHES.has(result.signal)) {
    const crash = `HAProxy crashed (${result.signal}) on this configuration`;
    return [...findingsOf(result.stderr, 'passed', rendered), { severity: 'error', message: crash }];
  }
  const last = result.stderr.trim().split('\n').at(-1) ?? '';
  throw new Retry(
    `haproxy -c gave no answer: ${describeEnd(result)}${last === '' ? '' : `, last words: ${last}`}`,
  );
}

const NOTHING_TO_START: ReportedFinding = {
  severity: 'error',
  message: 'the configuration is valid but declares nothing to listen on, so HAProxy would not start',
};

function refuseAborted(signal: AbortSignal): void {
  if (signal.aborted) throw new Cancelled('the check was called off', { cause: signal.reason });
}

/** The check's answer, or Cancelled at once: who waits for a turn must not wait for the checks before. */
async function unlessAborted<T>(check: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(new Cancelled('the check was called off', { cause: signal.reason }));
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  try {
    return await Promise.race([check, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

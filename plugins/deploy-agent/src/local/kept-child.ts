import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import type { Clock, Log } from '@haptic/core/contract';
import { forwardLines } from './child-log.ts';

export interface KeptOptions {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly log: Log;
  readonly clock: Clock;
}

const STEADY_MS = 10_000;
const LONGEST_PAUSE_MS = 5_000;

/**
 * A child process that is started again when it dies. Its standard input is a pipe whose other end is ours: it closes when this
 * process ends, however it ends, and the child then ends too.
 */
export class KeptChild {
  readonly #options: KeptOptions;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  #child: ChildProcess | undefined;

  constructor(options: KeptOptions) {
    this.#options = options;
    this.#running = this.#keep();
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Asks the child to end, and kills it after the time. */
  async stop(graceMs: number): Promise<void> {
    this.#stop.abort();
    this.#child?.kill('SIGTERM');
    const timer = setTimeout(() => this.#child?.kill('SIGKILL'), graceMs);
    await this.#running;
    clearTimeout(timer);
  }

  async #keep(): Promise<void> {
    const { clock, log, name } = this.#options;
    let pause = 0;
    while (!this.#stop.signal.aborted) {
      const startedAt = clock.now();
      const ended = await this.#runOnce();
      if (this.#stop.signal.aborted) return;
      log.error({ ended }, `${name} ended; starting it again`);
      if (clock.now() - startedAt > STEADY_MS) pause = 0;
      await clock.sleep(pause, this.#stop.signal).catch(() => {});
      pause = Math.min(LONGEST_PAUSE_MS, Math.max(100, pause * 2));
    }
  }

  async #runOnce(): Promise<string> {
    const { command, args, log } = this.#options;
    const stdio: StdioOptions = ['pipe', 'pipe', 'pipe'];
    // A session of its own: Ctrl-C in a terminal is for us, and we tell the children.
    const child = spawn(command, args, { stdio, detached: true });
    this.#child = child;
    for (const stream of [child.stdout, child.stderr]) if (stream !== null) forwardLines(stream, log);
    child.stdin?.on('error', () => {});
    try {
      const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
      return signal ?? `exit code ${code}`;
    } catch (error) {
      return (error as Error).message;
    }
  }
}

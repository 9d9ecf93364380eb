import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { extname, join } from 'node:path';
import type { LauncherAnswer, LauncherRequest } from './launcher-messages.ts';
import { runProcess, type ProcessLimits, type ProcessResult } from './run-process.ts';

/**
 * Starting a program copies the page tables of the process that starts it, and nothing else goes on meanwhile: measured 1 ms
 * with 50 MiB, 9 ms with 350, 25 ms with 650.
 */
const LARGE_BYTES = 192 * 1024 * 1024;

/** Sources run as they are, and find other sources. */
const EXTENSION = extname(import.meta.filename);
const PROGRAM = join(import.meta.dirname, `launcher-program${EXTENSION}`);
const NODE_FLAGS = EXTENSION === '.ts' ? ['--conditions=source'] : [];

/** Runs programs: by itself while this process is small, then by a small process that does nothing else. */
export class Launcher {
  readonly #largeBytes: number;
  readonly #waiting = new Map<number, PromiseWithResolvers<ProcessResult>>();
  #child: ChildProcess | undefined;
  #last = 0;

  /** @param largeBytes Resident memory from which on the other process is worth its own. */
  constructor(largeBytes = LARGE_BYTES) {
    this.#largeBytes = largeBytes;
  }

  /** Of the launcher's process, if there is one. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** As `runProcess`. @throws Error also when the launcher's process ended meanwhile. */
  async run(binary: string, args: readonly string[], limits: ProcessLimits): Promise<ProcessResult> {
    if (this.#child === undefined && process.memoryUsage.rss() < this.#largeBytes) {
      return await runProcess(binary, args, limits);
    }
    const { timeoutMs, maxOutput, signal } = limits;
    if (signal.aborted) return { kind: 'called-off', stdout: '', stderr: '' };
    const child = (this.#child ??= this.#start());
    const id = (this.#last += 1);
    const answer = Promise.withResolvers<ProcessResult>();
    this.#waiting.set(id, answer);
    child.channel?.ref();
    const callOff = (): void => send(child, { kind: 'call-off', id });
    signal.addEventListener('abort', callOff, { once: true });
    send(child, { kind: 'run', id, binary, args, timeoutMs, maxOutput });
    try {
      return await answer.promise;
    } finally {
      signal.removeEventListener('abort', callOff);
      this.#waiting.delete(id);
      if (this.#waiting.size === 0) child.channel?.unref();
    }
  }

  /** Ends the launcher's process, and what it still runs. */
  async dispose(): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.ref();
    if (child.connected) child.disconnect();
    await ended;
  }

  #start(): ChildProcess {
    const child = fork(PROGRAM, [], {
      execArgv: NODE_FLAGS,
      // Tokens and proxies stay here.
      env: {},
      cwd: '/',
      // Ctrl-C in a terminal is for us.
      detached: true,
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    child.unref();
    child.on('message', (answer: LauncherAnswer) => {
      const waiting = this.#waiting.get(answer.id);
      if ('result' in answer) waiting?.resolve(answer.result);
      else waiting?.reject(new Error(answer.error));
    });
    const ended = (why: string): void => {
      if (this.#child === child) this.#child = undefined;
      for (const { reject } of this.#waiting.values()) reject(new Error(why));
    };
    child.on('error', (error) => {
      ended(`the launcher of checks does not answer: ${error.message}`);
      child.kill('SIGKILL');
    });
    child.once('exit', (code, signal) =>
      ended(`the launcher of checks has ended (${signal ?? `exit code ${code}`})`),
    );
    return child;
  }
}

/** What does not arrive is answered by the end of the process. */
function send(child: ChildProcess, request: LauncherRequest): void {
  if (child.connected) child.send(request, () => undefined);
}

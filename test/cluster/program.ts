import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Guard } from './guard.ts';

export interface Launch {
  readonly binary: string;
  readonly args: readonly string[];
  /** Takes what the program prints. */
  readonly logFile: string;
  readonly guard: Guard;
}

/** One process of a cluster, which can be stopped, killed, paused and started again as it was. */
export class Program {
  readonly #launch: Launch;
  #child: ChildProcess | undefined;

  constructor(launch: Launch) {
    this.#launch = launch;
  }

  get running(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  async start(): Promise<void> {
    const { binary, args, logFile, guard } = this.#launch;
    const log = createWriteStream(logFile, { flags: 'a' });
    const child = spawn(binary, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout.pipe(log, { end: false });
    child.stderr.pipe(log, { end: false });
    child.once('close', () => {
      log.end();
      if (child.pid !== undefined) guard.ended(child.pid);
    });
    this.#child = child;
    // At once: until the guard knows it, nobody ends it when this process is killed.
    if (child.pid !== undefined) guard.process(child.pid);
    await once(child, 'spawn');
  }

  /** The last words of a program that is not there any more, for an error message. */
  async lastWords(): Promise<string> {
    const text = await readFile(this.#launch.logFile, 'utf8').catch(() => '');
    return text.trim().split('\n').slice(-8).join('\n');
  }

  pause(): void {
    this.#child?.kill('SIGSTOP');
  }

  resume(): void {
    this.#child?.kill('SIGCONT');
  }

  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  async stop(): Promise<void> {
    this.resume();
    const child = this.#child;
    const impatience = setTimeout(() => child?.kill('SIGKILL'), 5_000);
    await this.#end('SIGTERM').finally(() => clearTimeout(impatience));
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    if (child === undefined || !this.running) return;
    const closed = once(child, 'close');
    child.kill(signal);
    await closed;
  }
}

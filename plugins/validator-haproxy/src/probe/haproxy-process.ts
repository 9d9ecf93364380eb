import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { CappedText } from '../process/capped-text.ts';

/** HAProxy ends with this process: however that ends, the pipe closes. The second shell has HAProxy's process group. */
const GUARDED = '(read -r _ <&3; kill -9 "$$") >/dev/null 2>&1 & exec "$@" 3<&-';

/** A HAProxy in the foreground, in a process group of its own. */
export class HaproxyProcess {
  readonly #child: ChildProcess;
  readonly #output: CappedText;
  readonly #ended: Promise<unknown>;
  #running = true;

  constructor(child: ChildProcess, output: CappedText) {
    this.#child = child;
    this.#output = output;
    this.#ended = once(child, 'exit');
    child.once('exit', () => {
      this.#running = false;
      this.#killGroup();
    });
  }

  get pid(): number {
    return this.#child.pid ?? -1;
  }

  get running(): boolean {
    return this.#running;
  }

  /** What it has printed. */
  output(): string {
    return this.#output.text();
  }

  async kill(): Promise<void> {
    this.#killGroup();
    await this.#ended;
    this.#child.stdout?.destroy();
    this.#child.stderr?.destroy();
    (this.#child.stdio[3] as Writable | null)?.destroy();
  }

  #killGroup(): void {
    if (this.#child.pid === undefined) return;
    try {
      process.kill(-this.#child.pid, 'SIGKILL');
    } catch {
      // The whole group has ended.
    }
  }
}

export interface HaproxyCommand {
  readonly binary: string;
  readonly args: readonly string[];
  readonly maxOutput: number;
}

/** @throws Error when it cannot be started. */
export async function startProcess({ binary, args, maxOutput }: HaproxyCommand): Promise<HaproxyProcess> {
  const child = spawn('/bin/sh', ['-c', GUARDED, 'sh', binary, ...args], {
    cwd: '/',
    // Nothing of ours: tokens and proxies stay here.
    env: { LC_ALL: 'C', TZ: 'UTC' },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    detached: true,
  });
  const output = new CappedText(maxOutput);
  child.stdout?.on('data', (chunk: Buffer) => output.add(chunk));
  child.stderr?.on('data', (chunk: Buffer) => output.add(chunk));
  // HAProxy may be gone before its end of the pipe is closed here.
  child.stdio[3]?.on('error', () => undefined);
  await once(child, 'spawn');
  return new HaproxyProcess(child, output);
}

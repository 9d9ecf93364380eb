import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onCleanup } from '../haproxy/cleanup.ts';

export interface Program {
  readonly child: ChildProcess;
  readonly pid: number;
  /** Settles with the exit code or the signal. */
  readonly ended: Promise<number | NodeJS.Signals>;
  /** What it has written so far. */
  output(): string;
  /** What it wrote last, each line with the time at which it came. */
  recent(lines?: number): string;
  kill(signal?: NodeJS.Signals): Promise<void>;
}

/** Under what a program runs: a command that ends by executing its arguments. */
export type Launcher = readonly string[];

/** Compiled code of the programs: they are started hundreds of times. */
const compileCache = mkdtempSync(join(tmpdir(), 'haptic-compiled-'));
onCleanup(() => rmSync(compileCache, { recursive: true, force: true }));

/** Starts one of the programs beside this file; it is killed at the end of the test. */
export function startProgram(
  name: string,
  options: Readonly<Record<string, string | boolean>>,
  launcher: Launcher = [],
): Program {
  const args = Object.entries(options).map(([key, value]) =>
    value === true ? `--${key}` : `--${key}=${String(value)}`,
  );
  const file = join(import.meta.dirname, 'programs', `${name}.ts`);
  const [command, ...words] = [...launcher, process.execPath, '--conditions=source', file];
  const child = spawn(command, [...words, ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, NODE_COMPILE_CACHE: compileCache },
  });
  const chunks: Buffer[] = [];
  const times: string[] = [];
  const take = (chunk: Buffer): void => {
    chunks.push(chunk);
    times.push(new Date().toISOString().slice(11));
  };
  child.stdout.on('data', take);
  child.stderr.on('data', take);
  const ended = once(child, 'exit').then(([code, signal]) => (code ?? signal) as number | NodeJS.Signals);
  const kill = async (signal: NodeJS.Signals = 'SIGKILL'): Promise<void> => {
    child.kill(signal);
    await ended;
  };
  onCleanup(async () => {
    if (child.exitCode === null && child.signalCode === null) await kill();
  });
  const recent = (lines = 80): string =>
    chunks
      .flatMap((chunk, at) =>
        chunk
          .toString()
          .trimEnd()
          .split('\n')
          .map((line) => `${times[at]} ${line}`),
      )
      .slice(-lines)
      .join('\n');
  return { child, pid: child.pid!, ended, output: () => Buffer.concat(chunks).toString(), recent, kill };
}

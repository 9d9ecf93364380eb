import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { basename } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';

/** How the steps of an installation report and stop. */
export interface Run {
  log(line: string): void;
  readonly signal: AbortSignal | undefined;
  /** Inherited by every program, so that it holds the lock too. */
  readonly lock?: number;
}

const timeoutMs = 600_000;

/** Runs a program to its end and returns what it printed. @throws Error with the last lines of its output. */
export async function command(
  { signal, lock }: Run,
  file: string,
  args: readonly string[],
  { cwd }: { readonly cwd?: string } = {},
): Promise<string> {
  const child = spawn(file, args, {
    cwd,
    env: { ...process.env, LC_ALL: 'C', DEBIAN_FRONTEND: 'noninteractive' },
    stdio: ['ignore', 'pipe', 'pipe', lock ?? 'ignore'],
    signal: AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal === undefined ? [] : [signal])]),
  });
  const [ended, output, errors] = await Promise.all([
    once(child, 'close'),
    read(child.stdout),
    read(child.stderr),
  ]);
  const [code, killedBy] = ended as [number | null, NodeJS.Signals | null];
  if (code === 0) return output;
  const words = `${output}${errors}`.trim().split('\n').slice(-5).join(' | ');
  throw new Error(`${basename(file)} failed (${killedBy ?? code}): ${words}`);
}

async function read(stream: Readable | null): Promise<string> {
  return stream === null ? '' : text(stream);
}

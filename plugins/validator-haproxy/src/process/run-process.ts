import { spawn, type ChildProcess } from 'node:child_process';
import { CappedText } from './capped-text.ts';

export interface ProcessLimits {
  readonly timeoutMs: number;
  readonly maxOutput: number;
  readonly signal: AbortSignal;
}

interface Output {
  readonly stdout: string;
  readonly stderr: string;
}

/** How a program ended, with what it printed. */
export type ProcessResult = Output &
  (
    | { readonly kind: 'ended'; readonly code: number }
    | { readonly kind: 'crashed'; readonly signal: NodeJS.Signals }
    | { readonly kind: 'timed-out'; readonly timeoutMs: number }
    /** The answer was no longer wanted. */
    | { readonly kind: 'called-off' }
  );

export function describeEnd(result: ProcessResult): string {
  switch (result.kind) {
    case 'timed-out':
      return `still running after ${result.timeoutMs} ms`;
    case 'crashed':
      return `ended by ${result.signal}`;
    case 'ended':
      return `exit code ${result.code}`;
    case 'called-off':
      return 'called off';
  }
}

/** Something that left the group may hold the pipes open; what HAProxy wrote itself is there long before. */
const DRAIN_MS = 1000;

/** What HAProxy sees of our environment: nothing. Tokens and proxies stay here; messages are in one language. */
const ENVIRONMENT = { LC_ALL: 'C', TZ: 'UTC' };

/**
 * Runs a program to its end in a process group of its own, which is killed as a whole when the time is up or the answer is no
 * longer wanted, so that nothing it started goes on. The answer comes when the process has ended.
 * @throws Error when it cannot be started.
 */
export async function runProcess(
  binary: string,
  args: readonly string[],
  limits: ProcessLimits,
): Promise<ProcessResult> {
  if (limits.signal.aborted) return { kind: 'called-off', stdout: '', stderr: '' };
  const child = spawn(binary, args, {
    cwd: '/',
    env: ENVIRONMENT,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let timedOut = false;
  const kill = (): void => killGroup(child);
  const timer = setTimeout(() => {
    timedOut = true;
    kill();
  }, limits.timeoutMs);
  limits.signal.addEventListener('abort', kill, { once: true });
  try {
    const result = await ending(child, limits.maxOutput);
    if (limits.signal.aborted) return { ...result, kind: 'called-off' };
    return timedOut ? { ...result, kind: 'timed-out', timeoutMs: limits.timeoutMs } : result;
  } finally {
    clearTimeout(timer);
    limits.signal.removeEventListener('abort', kill);
  }
}

function ending(child: ChildProcess, maxOutput: number): Promise<ProcessResult> {
  const stdout = new CappedText(maxOutput);
  const stderr = new CappedText(maxOutput);
  child.stdout?.on('data', (chunk: Buffer) => stdout.add(chunk));
  child.stderr?.on('data', (chunk: Buffer) => stderr.add(chunk));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    let drained: NodeJS.Timeout | undefined;
    child.once('exit', () => {
      killGroup(child);
      drained = setTimeout(() => {
        child.stdout?.destroy();
        child.stderr?.destroy();
      }, DRAIN_MS);
    });
    child.once('close', (code, signal) => {
      clearTimeout(drained);
      const output = { stdout: stdout.text(), stderr: stderr.text() };
      if (signal !== null) resolve({ ...output, kind: 'crashed', signal });
      else resolve({ ...output, kind: 'ended', code: code ?? -1 });
    });
  });
}

function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The whole group has ended.
  }
}

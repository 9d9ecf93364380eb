import { spawn } from 'node:child_process';
import { once } from 'node:events';

/**
 * Runs the work while holding a lock file that other processes respect. The kernel's own lock is held by a small child that
 * ends with its standard input, so a process that dies in any way never leaves a stale lock.
 */
export async function withFileLock<T>(
  path: string,
  signal: AbortSignal | undefined,
  work: () => Promise<T>,
): Promise<T> {
  const holder = spawn('flock', [path, 'sh', '-c', 'echo locked; exec cat >/dev/null'], {
    stdio: ['pipe', 'pipe', 'ignore'],
    ...(signal === undefined ? {} : { signal }),
  });
  const ended = once(holder, 'close');
  try {
    await Promise.race([
      once(holder.stdout, 'data'),
      ended.then(() => {
        throw new Error(`cannot lock ${path}`);
      }),
    ]);
    return await work();
  } finally {
    holder.stdin.on('error', () => undefined).end();
    await ended.catch(() => undefined);
  }
}

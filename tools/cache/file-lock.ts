import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { open } from 'node:fs/promises';

/**
 * Runs the work while holding a lock file that other processes respect. It is the kernel's lock on the open file, so a
 * process that dies in any way never leaves a stale one. Programs that inherit the descriptor hold it too: what an
 * interrupted run has started is waited for.
 */
export async function withFileLock<T>(
  path: string,
  signal: AbortSignal | undefined,
  work: (descriptor: number) => Promise<T>,
): Promise<T> {
  await using file = await open(path, 'a');
  const locker = spawn('flock', ['3'], {
    stdio: ['ignore', 'ignore', 'ignore', file.fd],
    ...(signal === undefined ? {} : { signal }),
  });
  const [code] = (await once(locker, 'close')) as [number | null];
  if (code !== 0) throw new Error(`cannot lock ${path}`);
  return await work(file.fd);
}

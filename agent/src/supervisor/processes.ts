import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** Sends a signal to a process, or with a negative pid to a group; a process that is gone is fine. */
export function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Running, and not a zombie whose parent never asks for it. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
  }
  const stat = procFile(pid, 'stat');
  return stat === undefined || !/^\d+ \(.*\) Z/s.test(stat);
}

/** Alive, with this word on its command line: pids are used again. Where there is no /proc, alive is all that is known. */
export function isAliveWith(pid: number, word: string): boolean {
  if (!isAlive(pid)) return false;
  const command = procFile(pid, 'cmdline');
  return command === undefined || command.includes(word);
}

function procFile(pid: number, name: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return undefined;
  }
}

/** Waits until all are gone; false when some are still there after the time. */
export async function gone(pids: readonly number[], ms: number): Promise<boolean> {
  const deadline = performance.now() + ms;
  while (pids.some(isAlive)) {
    if (performance.now() >= deadline) return false;
    await sleep(20);
  }
  return true;
}

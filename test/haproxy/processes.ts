import { readdir, readFile, readlink } from 'node:fs/promises';
import { until } from './until.ts';

/** Processes whose working directory or command line lies in a folder, as `pid: command line`. */
export async function processesIn(dir: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const pid of await readdir('/proc')) {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) continue;
    const command = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0').join(' ');
    const cwd = await readlink(`/proc/${pid}/cwd`).catch(() => '');
    // A zombie has no command line: it is dead, only its parent has not asked yet.
    if (command !== '' && (command.includes(dir) || `${cwd}/`.startsWith(`${dir}/`)))
      found.push(`${pid}: ${command}`);
  }
  return found;
}

/** @throws Error naming what still runs in the folder when the deadline passes. */
export async function noProcesses(dir: string, deadlineMs = 5000): Promise<void> {
  let left: readonly string[] = [];
  try {
    await until(async () => (left = await processesIn(dir)).length === 0, { deadlineMs });
  } catch (error) {
    throw new Error(`still running in ${dir}:\n${left.join('\n')}`, { cause: error });
  }
}

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { MAIN_CONFIG, Refused } from '@haptic/core/contract';
import type { Layout } from '../protocol/index.ts';
import { gone, isAlive, send } from './processes.ts';

/** A running HAProxy: one that was started here, or one of a killed predecessor. */
export interface HaproxyProcess {
  /** The master's pid, and the process group of all. */
  readonly pid: number;
  /** Resolves when the master is gone, with how it ended where that is known. */
  readonly exited: Promise<string>;
}

/** A relative socket path would be read as an address, hence the absolute ones of the layout. */
export function startHaproxy(
  binary: string,
  layout: Layout,
  workingDirectory: string,
): Promise<HaproxyProcess> {
  const args = ['-W', '-dr', '-C', workingDirectory, '-S', `${layout.masterSocket},mode,600,level,admin`];
  const child = spawn(binary, [...args, '-f', MAIN_CONFIG], {
    // A group of its own: one signal reaches every worker, and Ctrl-C in a terminal does not reach HAProxy past us.
    detached: true,
    // Its lines go where ours go, also after we were killed.
    stdio: ['ignore', 'inherit', 'inherit'],
    env: haproxyEnvironment(),
  });
  const exited = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`));
  });
  return once(child, 'spawn').then(
    () => ({ pid: child.pid!, exited }),
    (error: unknown) => cannotStart(binary, error),
  );
}

/** @throws Refused, always: the program is not there, or is none. */
export function cannotStart(binary: string, error: unknown): never {
  const { code, message } = error as NodeJS.ErrnoException;
  const reason = code === 'ENOENT' ? 'there is no such program' : message;
  throw new Refused([{ where: binary, message: `cannot be started as HAProxy: ${reason}` }]);
}

/** Goes on with the HAProxy of a killed predecessor, whose exit nobody reports to us. */
export function adoptHaproxy(pid: number): HaproxyProcess {
  const watch = async (): Promise<string> => {
    while (isAlive(pid)) await sleep(100);
    return 'gone';
  };
  return { pid, exited: watch() };
}

/** Ends it for sure: lets requests finish for `drainMs`, then asks, then kills the whole group. */
export async function stopHaproxy(haproxy: HaproxyProcess, drainMs: number): Promise<void> {
  if (drainMs > 0) {
    send(haproxy.pid, 'SIGUSR1');
    await gone([haproxy.pid], drainMs);
  }
  send(haproxy.pid, 'SIGTERM');
  await gone([haproxy.pid], 1_000);
  killGroup(haproxy.pid);
  await gone([haproxy.pid], 1_000);
}

export function killGroup(pid: number): void {
  send(-pid, 'SIGKILL');
}

/** What configures us is none of HAProxy's business, tokens least of all. */
export function haproxyEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('HAPTIC_')));
}

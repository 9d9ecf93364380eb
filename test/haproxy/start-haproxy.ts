import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { onCleanup } from './cleanup.ts';
import { canConnect } from './connect.ts';
import { runtimeCommand } from './runtime-command.ts';
import { until } from './until.ts';

export interface HaproxyStart {
  readonly binary: string;
  /** Holds the configuration and is the working directory. */
  readonly dir: string;
  /** `master-worker` by default; ready when the worker has loaded the configuration. */
  readonly mode?: 'master-worker' | 'plain';
  /** Relative to `dir`. */
  readonly config?: string;
  /** Ports that must answer before HAProxy counts as started; the only sign there is in plain mode. */
  readonly ports?: readonly number[];
  readonly args?: readonly string[];
}

export interface RunningHaproxy {
  readonly pid: number;
  /** Of the master; nothing listens there in plain mode. */
  readonly masterSocket: string;
  /** What it has written to standard output and error so far. */
  output(): string;
  /** Sends a signal to the process, not to its group. */
  kill(signal: NodeJS.Signals): void;
  /** Settles when the process has ended, with its exit code or signal. */
  readonly ended: Promise<number | NodeJS.Signals>;
  /** Kills the process and its workers and waits for the end. Called by itself at the end of the test. */
  stop(): Promise<void>;
}

/** Starts HAProxy in the foreground. @throws Error with its output when it ends before it is ready. */
export async function startHaproxy(start: HaproxyStart): Promise<RunningHaproxy> {
  const { mode = 'master-worker', ports = [] } = start;
  const masterSocket = join(start.dir, 'master.sock');
  const child = spawn(start.binary, argumentsOf(start, masterSocket), {
    cwd: start.dir,
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own, so that its workers end with it.
    detached: true,
  });
  const running = watch(child, masterSocket);
  onCleanup(() => running.stop());
  const isReady = async (): Promise<boolean> =>
    (mode === 'plain' || (await hasWorker(running))) &&
    (await Promise.all(ports.map(canConnect))).every(Boolean);
  const died = running.ended.then((how) => {
    throw new Error(`HAProxy ended with ${how} before it was ready:\n${running.output()}`);
  });
  await Promise.race([until(isReady, { what: 'HAProxy is ready', deadlineMs: 20_000 }), died]);
  died.catch(() => undefined);
  return running;
}

/** 3.0 executes itself anew after it has loaded: only then its socket stays. */
async function hasWorker(running: RunningHaproxy): Promise<boolean> {
  if (!running.output().includes('Loading success')) return false;
  return /^\d+\s+worker\s/m.test(await runtimeCommand(running.masterSocket, 'show proc'));
}

function argumentsOf(
  { mode, config = 'haproxy.cfg', dir, args = [] }: HaproxyStart,
  socket: string,
): string[] {
  const master = mode === 'plain' ? ['-db'] : ['-W', '-db', '-S', `${socket},mode,600,level,admin`];
  return [...master, '-C', dir, '-f', config, ...args];
}

function watch(child: ChildProcess, masterSocket: string): RunningHaproxy {
  const { pid } = child;
  if (pid === undefined) throw new Error(`cannot start ${child.spawnfile}`);
  const chunks: Buffer[] = [];
  child.stdout?.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.stderr?.on('data', (chunk: Buffer) => chunks.push(chunk));
  const ended = once(child, 'exit').then(([code, signal]) => (code ?? signal) as number | NodeJS.Signals);
  return {
    pid,
    masterSocket,
    output: () => Buffer.concat(chunks).toString(),
    kill: (signal) => void child.kill(signal),
    ended,
    stop: async () => {
      killGroup(pid);
      await ended;
    },
  };
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The whole group is gone already.
  }
}

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { onCleanup } from '../cleanup.ts';
import type { ClientGroup, Done, LoadReport, Order } from './messages.ts';

export type { ClientGroup, LoadReport } from './messages.ts';

/** Clients and origins in a process of their own. One order at a time. */
export interface Load {
  /** The port of a new origin that answers after so many milliseconds. */
  openOrigin(delayMs: number): Promise<number>;
  closeOrigin(port: number): Promise<void>;
  start(groups: readonly ClientGroup[]): Promise<void>;
  report(): Promise<LoadReport>;
  stop(): Promise<LoadReport>;
}

/** It ends with the test. */
export async function startLoad(): Promise<Load> {
  const child = fork(join(import.meta.dirname, 'process.ts'), { execArgv: ['--conditions=source'] });
  const exited = once(child, 'exit');
  onCleanup(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  const ended = exited.then(([code, signal]) => {
    throw new Error(`the load's process ended with ${String(code ?? signal)}`);
  });
  ended.catch(() => {});
  const ask = async (order: Order): Promise<Done> => {
    const answer = once(child, 'message') as Promise<[Done]>;
    child.send(order);
    const [done] = await Promise.race([answer, ended]);
    return done;
  };
  return {
    openOrigin: async (delayMs) => (await ask({ order: 'open-origin', delayMs })).port!,
    closeOrigin: async (port) => void (await ask({ order: 'close-origin', port })),
    start: async (groups) => void (await ask({ order: 'start', groups })),
    report: async () => (await ask({ order: 'report' })).report!,
    stop: async () => (await ask({ order: 'stop' })).report!,
  };
}

import { once } from 'node:events';
import { stat } from 'node:fs/promises';
import { connect } from 'node:net';
import type { Clock } from '@haptic/core/contract';
import { allArrived } from './all-arrived.ts';

const ACCEPT_MS = 100;

/** What is wrong with a validator's socket, asked now: whether it exists, is one, and is accepted on. */
export async function socketProblem(path: string, clock: Clock): Promise<string | undefined> {
  try {
    const file = await stat(path);
    if (!file.isSocket()) return `${path} is not a socket`;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' ? `there is no socket ${path}` : message;
  }
  const silent = `${path} does not accept a connection within ${ACCEPT_MS} ms`;
  const socket = connect({ path });
  const accepted = once(socket, 'connect').then(
    () => undefined,
    () => silent,
  );
  await allArrived(); // what this process is busy with is not the validator's time
  const done = new AbortController();
  const sayLate = (): string => silent;
  const late = clock.sleep(ACCEPT_MS, done.signal).then(sayLate, sayLate);
  try {
    return await Promise.race([accepted, late]);
  } finally {
    done.abort();
    socket.destroy();
  }
}

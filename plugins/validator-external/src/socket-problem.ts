import { once } from 'node:events';
import { stat } from 'node:fs/promises';
import { connect } from 'node:net';
import type { Clock } from '@haptic/core/contract';
import { timeLimit } from './time-limit.ts';

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
  using limit = timeLimit(ACCEPT_MS, { clock, signal: new AbortController().signal });
  const socket = connect({ path });
  try {
    await once(socket, 'connect', { signal: limit.signal });
    return undefined;
  } catch {
    return `${path} does not accept a connection within ${ACCEPT_MS} ms`;
  } finally {
    socket.destroy();
  }
}

import type { Log } from '@haptic/core/contract';
import { unlinkIfThere } from '../files/durable.ts';
import { SocketFailure } from '../haproxy/exchange.ts';
import { showProcesses } from '../haproxy/master-socket.ts';
import type { Layout } from '../protocol/index.ts';
import { adoptHaproxy, type HaproxyProcess } from './haproxy-process.ts';
import { gone, isAliveWith, send } from './processes.ts';
import { readStartRecord, removeStartRecord } from './start-record.ts';

/**
 * What became of the HAProxy of a killed supervisor: under the same parent it goes on serving and is looked after again; one of
 * another run is ended, and its sockets are removed.
 */
export async function adoptOrEnd(layout: Layout, log: Log): Promise<HaproxyProcess | undefined> {
  const record = readStartRecord(layout.startRecord);
  const answering = await answeringProcesses(layout.masterSocket);
  const ours = record !== undefined && isAliveWith(record.master, layout.masterSocket);
  if (ours && record.parent === process.ppid && answering[0] === record.master) {
    log.info({ master: record.master }, 'going on with the HAProxy of a supervisor that died');
    return adoptHaproxy(record.master);
  }
  const left = [...new Set([...(ours ? [record.master] : []), ...answering])];
  if (left.length > 0) {
    log.warn({ pids: left }, 'ending a HAProxy that a former run left behind');
    for (const pid of left) send(pid, 'SIGTERM');
    if (!(await gone(left, 1_000))) for (const pid of left) send(pid, 'SIGKILL');
    await gone(left, 1_000);
  }
  removeStartRecord(layout.startRecord);
  for (const socket of [layout.masterSocket, layout.workerSocket, layout.bootstrapSocket])
    unlinkIfThere(socket);
  return undefined;
}

/** The master that answers on the socket, then its workers. */
async function answeringProcesses(masterSocket: string): Promise<number[]> {
  try {
    const processes = await showProcesses(masterSocket);
    return processes === undefined ? [] : [processes.master, ...processes.workers];
  } catch (error) {
    if (error instanceof SocketFailure) return [];
    throw error;
  }
}

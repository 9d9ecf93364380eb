import { orGone, type Command } from './command.ts';
import { converse, type WorkerLine } from './conversation.ts';
import { SocketFailure } from '../haproxy/exchange.ts';
import { awaitBackend, deleteBackend } from './backend-commands.ts';
import type { DeferredDelete } from './deferred-delete.ts';
import { mapDel } from './map-commands.ts';
import { awaitServer, deleteServer } from './server-commands.ts';
import type { Turns } from './turns.ts';

/** How long HAProxy is asked to wait for the last connection; a wait holds one of the few connections to its socket. */
const WAIT = '500ms';

export interface Deleting {
  readonly line: WorkerLine;
  /** Ends a wait; what deletes is not interrupted, so that its end is known. */
  readonly waiting: AbortSignal;
  readonly turns: Turns;
}

/**
 * One attempt. Resolves when it is gone, also when it was gone before.
 * @throws OperationRefused while something holds it.
 * @throws SocketFailure when HAProxy does not answer, or the wait was ended.
 */
export async function deleteOne(item: DeferredDelete, { line, waiting, turns }: Deleting): Promise<void> {
  const waitingLine = { ...line, signal: AbortSignal.any([line.signal, waiting]) };
  for (const { command, waits } of steps(item)) {
    if (waits) await converse([orGone(command)], waitingLine);
    else await turns.change(() => unlessCalledOff(waiting, () => converse([orGone(command)], line)));
  }
}

/** While it waited for its turn, another worker may have taken over that wants what was to be deleted. */
async function unlessCalledOff<T>(waiting: AbortSignal, work: () => Promise<T>): Promise<T> {
  if (waiting.aborted) throw new SocketFailure('the delete was called off');
  return await work();
}

interface Step {
  readonly command: Command;
  readonly waits: boolean;
}

function steps(item: DeferredDelete): Step[] {
  if (item.kind === 'map') return [{ command: mapDel(item.map, item.key), waits: false }];
  if (item.kind === 'server') return serverSteps(item.backend, item.name);
  return [
    ...item.servers.flatMap((server) => serverSteps(item.name, server)),
    { command: awaitBackend(item.name, WAIT), waits: true },
    { command: deleteBackend(item.name), waits: false },
  ];
}

function serverSteps(backend: string, name: string): Step[] {
  return [
    { command: awaitServer(backend, name, WAIT), waits: true },
    { command: deleteServer(backend, name), waits: false },
  ];
}

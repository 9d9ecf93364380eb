import type { BackendOperation } from '@haptic/core/contract';
import { command, type Command } from './command.ts';
import { addServer, disableServer } from './server-commands.ts';

/** The whole last line: one with words behind it takes no servers. */
const REGISTERED = /^New backend registered\.$/;

export function addBackend(op: Extract<BackendOperation, { op: 'backend.add' }>): Command[] {
  const { name, profile, mode, guid, servers } = op;
  return [
    command(['add', 'backend', name, 'from', profile, 'mode', mode, 'guid', guid], REGISTERED),
    ...servers.flatMap((server) => addServer(name, server)),
    command(['publish', 'backend', name], /^Backend published\.$/),
  ];
}

export function retireBackend(op: Extract<BackendOperation, { op: 'backend.del' }>): Command[] {
  return [
    command(['unpublish', 'backend', op.name], /^Backend unpublished\.$/),
    ...op.servers.map((server) => disableServer(op.name, server)),
  ];
}

export function awaitBackend(name: string, delay: string): Command {
  return command(['wait', delay, 'be-removable', name], /^Done\.$/);
}

/** Lines of a log can stand before the one that counts. */
export function deleteBackend(name: string): Command {
  return command(['del', 'backend', name], /^Backend deleted\.$/);
}

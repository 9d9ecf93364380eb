import type { RuntimeServer, ServerOperation } from '@haptic/core/contract';
import { command, type Command } from './command.ts';

const MOVED = /^(?:IP|port) changed from |^nothing changed$/;

export function addServer(backend: string, server: RuntimeServer): Command[] {
  const { name, address, port, weight, keywords, guid } = server;
  const host = address.includes(':') ? `[${address}]` : address;
  const words = ['weight', String(weight), ...keywords, 'guid', guid];
  const added = command(
    ['add', 'server', `${backend}/${name}`, `${host}:${port}`, ...words],
    /^New server registered\.$/,
  );
  return [added, ...wake(backend, server)];
}

/** A server is born in maintenance, with its checks asleep. */
function wake(backend: string, { name, checked, state }: RuntimeServer): Command[] {
  const server = `${backend}/${name}`;
  return [
    ...(checked ? [command(['enable', 'health', server])] : []),
    ...(state === 'ready' ? [command(['enable', 'server', server])] : []),
  ];
}

/** One that is still there, in maintenance, and is wanted again. */
export function reviveServer(backend: string, server: RuntimeServer): Command[] {
  const { name, address, port, weight } = server;
  return [
    moveServer(`${backend}/${name}`, { address, port }),
    weighServer(`${backend}/${name}`, weight),
    ...wake(backend, server),
  ];
}

export function setServer(op: Extract<ServerOperation, { op: 'server.set' }>): Command[] {
  const server = `${op.backend}/${op.name}`;
  return [
    ...(op.endpoint === undefined ? [] : [moveServer(server, op.endpoint)]),
    ...(op.weight === undefined ? [] : [weighServer(server, op.weight)]),
    ...(op.state === undefined ? [] : [command(['set', 'server', server, 'state', op.state])]),
  ];
}

export function disableServer(backend: string, name: string): Command {
  return command(['disable', 'server', `${backend}/${name}`]);
}

/** Blocks until no connection is attached to it any more. */
export function awaitServer(backend: string, name: string, delay: string): Command {
  return command(['wait', delay, 'srv-removable', `${backend}/${name}`], /^Done\.$/);
}

export function deleteServer(backend: string, name: string): Command {
  return command(['del', 'server', `${backend}/${name}`], /^Server deleted\.$/);
}

function moveServer(server: string, { address, port }: { address: string; port: number }): Command {
  return command(['set', 'server', server, 'addr', address, 'port', String(port)], MOVED);
}

function weighServer(server: string, weight: number): Command {
  return command(['set', 'server', server, 'weight', String(weight)]);
}

import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';

interface Deferred {
  readonly kind: string;
  readonly backend?: string;
  readonly name?: string;
  readonly servers?: readonly string[];
}

/**
 * An agent that does not wait for the last requests of servers that have to go, as far as HAProxy lets it be one: it takes no
 * server away whose connections are not cut.
 */
export function cutRequests(base: string, sockets: string): void {
  const line = readFileSync(join(base, 'worker.json'), 'utf8').trim().split('\n').at(-1) ?? '';
  const { deferred } = JSON.parse(line) as { deferred: readonly Deferred[] };
  const servers = deferred.flatMap(({ kind, backend, name, servers: of = [] }) => {
    if (kind === 'server') return [`${backend}/${name}`];
    return kind === 'backend' ? of.map((server) => `${name}/${server}`) : [];
  });
  if (servers.length === 0) return;
  const socket = connect(join(sockets, 'worker.sock'));
  socket.on('error', () => {});
  socket.resume();
  socket.write(`${servers.map((server) => `shutdown sessions server ${server}`).join('; ')}\n`);
}

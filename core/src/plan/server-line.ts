import type { Server } from '../contract/index.ts';
import { isIp } from '../templates/names/ip.ts';
import { bare, refusal } from '../templates/runtime/escape.ts';

/** Names that backends, servers and profiles may have. */
const NAME = /^[A-Za-z0-9_.:-]+$/;

export function isProxyName(name: string): boolean {
  return NAME.test(name);
}

/** What is wrong with a server as declared; undefined where nothing is. */
export function serverFault(server: Server): string | undefined {
  if (!isProxyName(server.name)) return `the name of server "${server.name}" must match ${NAME.source}`;
  if (!isIp(server.address)) {
    return `the address of server "${server.name}" must be a literal IP address, not "${server.address}"`;
  }
  if (!Number.isInteger(server.port) || server.port < 1 || server.port > 65_535) {
    return `the port of server "${server.name}" must be from 1 to 65535, not ${server.port}`;
  }
  const { weight } = server;
  if (weight !== undefined && (!Number.isInteger(weight) || weight < 0 || weight > 256)) {
    return `the weight of server "${server.name}" must be from 0 to 256, not ${weight}`;
  }
  if (server.guid !== '' && !isProxyName(server.guid)) {
    return `the guid of server "${server.name}" must match ${NAME.source}`;
  }
  for (const word of server.keywords) {
    const why = word === '' ? 'is empty' : refusal(word);
    if (why !== undefined) return `keyword ${JSON.stringify(word)} of server "${server.name}" ${why}`;
  }
  return undefined;
}

/** How a state stands in a file: HAProxy has a word for maintenance, and drains a server that has no weight. */
function stateWords({ state, weight }: Server): readonly string[] {
  if (state === 'drain') return ['weight 0'];
  const weighted = weight === undefined ? [] : [`weight ${weight}`];
  return state === 'maint' ? [...weighted, 'disabled'] : weighted;
}

/** The server as a line of its backend. Only for a server without fault. */
export function serverLine(server: Server): string {
  const address = server.address.includes(':') ? `[${server.address}]` : server.address;
  const words = [...stateWords(server), ...server.keywords.map(bare), `guid ${server.guid}`];
  return `    server ${server.name} ${address}:${server.port} ${words.join(' ')}\n`;
}

import type { Server } from '../contract/index.ts';
import { isIp } from './ip-address.ts';

/** What stands bare in a line of configuration without meaning anything (reference: HAProxy's quoting, word level). */
const SPECIAL = /[\\ "'#]/g;

/** A value as one bare word of a line, or undefined for a value that no word can hold. */
function bareWord(value: string): string | undefined {
  if (value === '' || /[\0-\x1f\x7f]/.test(value) || !value.isWellFormed()) return undefined;
  return value.replace(SPECIAL, '\\$&');
}

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
  if (!isProxyName(server.guid)) return `the guid of server "${server.name}" must match ${NAME.source}`;
  const bad = server.keywords.find((word) => bareWord(word) === undefined);
  if (bad === undefined) return undefined;
  return `keyword ${JSON.stringify(bad)} of server "${server.name}" is empty or holds a control character`;
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
  const words = [
    ...stateWords(server),
    ...server.keywords.map((word) => bareWord(word)!),
    `guid ${server.guid}`,
  ];
  return `    server ${server.name} ${address}:${server.port} ${words.join(' ')}\n`;
}

import { createServer } from 'node:net';

interface Endpoint {
  readonly host: string;
  readonly port: number;
}

/**
 * The TCP endpoint of a bind address as HAProxy writes it; undefined for what cannot be tried from outside HAProxy (other
 * families, inherited descriptors, port ranges, variables).
 */
export function endpointOf(address: string): Endpoint | undefined {
  const match = /^(?:ipv4@|ipv6@)?(\*|\[[0-9a-fA-F:.]+\]|[0-9.]*|::):(\d{1,5})$/.exec(address);
  if (match === null) return undefined;
  const port = Number(match[2]);
  if (port === 0 || port > 65_535) return undefined;
  const host = match[1] ?? '';
  if (host === '' || host === '*') return { host: address.startsWith('ipv6@') ? '::' : '0.0.0.0', port };
  return { host: host.replace(/^\[|\]$/g, ''), port };
}

/**
 * Tries the addresses that the running HAProxy does not hold. Inside HAProxy a bind that fails pauses every listener for two
 * seconds, and `haproxy -c` does not see it. Returns what is wrong with the first one that cannot be bound.
 */
export async function probeBinds(
  wanted: readonly string[],
  held: readonly string[],
): Promise<string | undefined> {
  const own = held.map(endpointOf).filter((endpoint) => endpoint !== undefined);
  for (const address of wanted) {
    const endpoint = endpointOf(address);
    if (endpoint === undefined || own.some((other) => overlaps(endpoint, other))) continue;
    const problem = await tryBind(endpoint);
    if (problem !== undefined) return `cannot bind ${address}: ${problem}`;
  }
  return undefined;
}

/** HAProxy's sockets share their port (SO_REUSEPORT): a wildcard of ours is no hindrance to a single address of ours. */
function overlaps(a: Endpoint, b: Endpoint): boolean {
  return a.port === b.port && (a.host === b.host || wildcards.has(a.host) || wildcards.has(b.host));
}

const wildcards = new Set(['0.0.0.0', '::']);

function tryBind({ host, port }: Endpoint): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => {
      // No verdict: HAProxy's container may be allowed a low port that ours is not.
      resolve(error.code === 'EACCES' ? undefined : bindWords(error));
    });
    server.listen({ host, port, ipv6Only: host.includes(':'), exclusive: true }, () => {
      server.close(() => resolve(undefined));
    });
  });
}

function bindWords(error: NodeJS.ErrnoException): string {
  if (error.code === 'EADDRINUSE') return 'another process holds the address';
  if (error.code === 'EADDRNOTAVAIL') return 'this machine does not have the address';
  return error.message;
}

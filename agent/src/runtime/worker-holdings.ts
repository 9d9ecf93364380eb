import { SocketFailure } from '../haproxy/exchange.ts';
import { askAnew } from '../haproxy/worker-connection.ts';

/** What a running worker has, as far as that is cheap to ask for. */
export interface WorkerHoldings {
  /** Entries of each map, by its name. */
  readonly maps: ReadonlyMap<string, number>;
  /** `backend/server` */
  readonly servers: ReadonlySet<string>;
  /** Names of certificates. */
  readonly certificates: ReadonlySet<string>;
}

/** @throws SocketFailure when no worker answers. */
export async function workerHoldings(socket: string, signal: AbortSignal): Promise<WorkerHoldings> {
  const { blocks } = await askAnew(socket, 'show map; show servers state; show ssl cert', signal);
  const [maps, servers, certificates] = blocks;
  if (maps === undefined || servers === undefined || certificates === undefined)
    throw new SocketFailure(`${socket}: does not say what it holds`);
  return {
    maps: new Map(
      [...maps.matchAll(/^\d+ \(([^)]+)\) .* entry_cnt=(\d+)$/gm)].map(([, name = '', count]) => [
        name,
        Number(count),
      ]),
    ),
    servers: new Set(
      [...servers.matchAll(/^\d+ (\S+) \d+ (\S+) /gm)].map(([, backend, name]) => `${backend}/${name}`),
    ),
    // A star marks what is being changed, a hash what is none.
    certificates: new Set(certificates.split('\n').filter((row) => /^[^#*]/.test(row))),
  };
}

import { once } from 'node:events';
import { createServer, type AddressInfo, type Server } from 'node:net';

export const LOOPBACK = '127.0.0.1';

/** A port of the loopback address that is kept for a HAProxy: until that listens, this process does. */
export interface HeldPort {
  readonly port: number;
  readonly server: Server;
}

async function hold(): Promise<HeldPort> {
  const server = createServer((connection) => connection.destroy());
  // HAProxy shares its ports in this way, with whoever is the same user.
  server.listen({ host: LOOPBACK, port: 0, reusePort: true });
  await once(server, 'listening');
  return { server, port: (server.address() as AddressInfo).port };
}

/** Free ports that nobody can take before HAProxy does. */
export async function holdPorts(count: number): Promise<readonly HeldPort[]> {
  const held: HeldPort[] = [];
  try {
    while (held.length < count) held.push(await hold());
    return held;
  } catch (error) {
    releasePorts(held);
    throw error;
  }
}

export function releasePorts(held: readonly HeldPort[]): void {
  for (const { server } of held) server.close();
}

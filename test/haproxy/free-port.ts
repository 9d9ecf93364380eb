import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

const given = new Set<number>();

/**
 * A TCP port of the loopback address that nothing listens on. It is taken below the range that the kernel gives to outgoing
 * connections, so that no client takes it before HAProxy binds it.
 */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const port = randomInt(12_000, 32_000);
    if (given.has(port) || !(await canBind(port))) continue;
    given.add(port);
    return port;
  }
  throw new Error('found no free port in 100 attempts');
}

async function canBind(port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen({ port, host: '127.0.0.1', exclusive: true });
    await once(server, 'listening');
    return true;
  } catch {
    return false;
  } finally {
    await new Promise((resolve) => void server.close(resolve));
  }
}

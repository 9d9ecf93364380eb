import type { FastifyInstance } from 'fastify';
import type { Server } from 'node:https';

const MOST_CONNECTIONS = 512;
const MOST_REQUESTS = 256;
/** Of all bodies together. Read, they take several times as much. */
const MOST_BYTES = 64 * 1024 * 1024;

/** Whoever reaches the port sends what they like: what is under way at once has an end, before any of it is read. */
export function boundRequests(server: FastifyInstance<Server>, bodyLimit: number): void {
  let requests = 0;
  let bytes = 0;
  server.server.maxConnections = MOST_CONNECTIONS;
  server.addHook('onRequest', async ({ headers }, reply) => {
    // Who does not say how much may send all that is taken.
    const size = Math.min(Number(headers['content-length'] ?? bodyLimit), bodyLimit);
    if (requests >= MOST_REQUESTS || bytes + size > MOST_BYTES) {
      return reply
        .code(503)
        .header('connection', 'close')
        .send({ error: 'too many requests at once, try again' });
    }
    requests += 1;
    bytes += size;
    reply.raw.once('close', () => {
      requests -= 1;
      bytes -= size;
    });
    return undefined;
  });
}

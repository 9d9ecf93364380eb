import fastify, { type FastifyInstance } from 'fastify';
import type { Log } from '@haptic/core/contract';

export interface ServerParts {
  readonly contentType: string;
  readonly scrape: () => Promise<string>;
  readonly log: Log;
}

/** `/metrics`, and nothing else. */
export function createServer({ contentType, scrape, log }: ServerParts): FastifyInstance {
  // Prometheus keeps its connection open: a close does not wait for it.
  const server = fastify({ forceCloseConnections: true, logger: false });
  server.get('/metrics', async (_request, reply) => reply.type(contentType).send(await scrape()));
  server.setNotFoundHandler((request, reply) =>
    reply.code(404).send({ error: `no such page: ${request.url}; there is /metrics` }),
  );
  server.setErrorHandler((error: Error, _request, reply) => {
    log.error({ err: error }, 'a scrape failed');
    return reply.code(500).send({ error: 'the scrape failed; the log says why' });
  });
  return server;
}

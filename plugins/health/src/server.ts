import fastify, { type FastifyInstance } from 'fastify';
import type { ControllerAccess, Log } from '@haptic/core/contract';
import type { Build } from './build.ts';
import { readiness } from './readiness.ts';

export interface ServerParts {
  readonly controller: ControllerAccess;
  readonly build: () => Promise<Build>;
  readonly log: Log;
}

/** `/livez`, `/readyz` and `/build`, for probes and for whoever rolls out a new version. Nothing of it is secret. */
export function createServer({ controller, build, log }: ServerParts): FastifyInstance {
  // Probes keep connections open: a close waits for none of them.
  const server = fastify({ forceCloseConnections: true, logger: false });
  server.get('/livez', () => 'ok\n');
  server.get('/readyz', async (_request, reply) => {
    const body = await readiness(controller);
    return reply.code(body.ready ? 200 : 503).send(body);
  });
  server.get('/build', async () => build());
  server.setNotFoundHandler((request, reply) =>
    reply.code(404).send({ error: `no such page: ${request.url}; there are /livez, /readyz and /build` }),
  );
  server.setErrorHandler((error: Error, request, reply) => {
    log.error({ err: error, path: request.url }, 'a page failed');
    return reply.code(500).send({ error: error.message });
  });
  return server;
}

import fastify, { type FastifyError, type FastifyInstance, type FastifyReply } from 'fastify';
import type { Log } from '@haptic/core/contract';
import type { z } from 'zod';
import type { AgentService } from '../hooks.ts';
import { applyRequestSchema, LIMITS, stateQuerySchema, type ErrorAnswer } from '../protocol/index.ts';
import { authorized, type TokenSource } from './token.ts';

const METHODS: Readonly<Record<string, string>> = { '/v1/state': 'GET', '/v1/apply': 'POST' };

export interface ApiFacts {
  readonly agent: AgentService;
  readonly token: TokenSource;
  readonly log: Log;
  /** Aborted when the agent stops. */
  readonly signal: AbortSignal;
}

/** The two calls of the protocol, nothing else, and nothing without the token. */
export function createApi(facts: ApiFacts): FastifyInstance {
  const server = fastify({
    bodyLimit: LIMITS.body,
    // A close waits for no idle connection; fastify's own default does.
    forceCloseConnections: true,
    logger: false,
  });
  server.addHook('onRequest', async (request, reply) => {
    if (!authorized(request.headers.authorization, facts.token)) {
      return fail(reply, 401, { error: 'expected `Authorization: Bearer <token>`' });
    }
    const expected = METHODS[request.url.split('?')[0] ?? ''];
    if (expected !== undefined && request.method !== expected) {
      void reply.header('allow', expected);
      return fail(reply, 405, { error: `${request.method} is not allowed here, expected ${expected}` });
    }
    return undefined;
  });
  server.get('/v1/state', async (request, reply) => {
    const query = stateQuerySchema.safeParse(request.query);
    if (!query.success) return fail(reply, 422, broken('the query is broken', query.error));
    const gone = new AbortController();
    request.raw.once('close', () => gone.abort());
    return facts.agent.state(query.data, AbortSignal.any([gone.signal, facts.signal]));
  });
  server.post('/v1/apply', async (request, reply) => {
    const message = applyRequestSchema.safeParse(request.body);
    if (!message.success) return fail(reply, 422, broken('the message is broken', message.error));
    const { status, body } = await facts.agent.apply(message.data);
    return reply.code(status).send(body);
  });
  server.setNotFoundHandler((request, reply) => {
    const known = Object.entries(METHODS).map(([path, method]) => `${method} ${path}`);
    return fail(reply, 404, { error: `no such call: ${request.url}; there are ${known.join(' and ')}` });
  });
  server.setErrorHandler((error: FastifyError, _request, reply) => failWith(error, reply, facts.log));
  return server;
}

function failWith(error: FastifyError, reply: FastifyReply, log: Log): FastifyReply {
  if (error.code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    return fail(reply, 413, { error: `the message has more than ${LIMITS.body} bytes` });
  }
  // A body that is no JSON is as broken as one of another shape.
  if (error.statusCode === 400) return fail(reply, 422, { error: error.message });
  if (error.statusCode !== undefined && error.statusCode < 500) {
    return fail(reply, error.statusCode, { error: error.message });
  }
  // The caller has gone, or the agent stops.
  if (error.name === 'AbortError') return fail(reply, 503, { error: 'the call was given up' });
  log.error({ err: error }, 'a call failed');
  return fail(reply, 500, { error: error.message });
}

function fail(reply: FastifyReply, status: number, answer: ErrorAnswer): FastifyReply {
  return reply.code(status).send(answer);
}

function broken(error: string, cause: z.ZodError): ErrorAnswer {
  const problems = cause.issues.slice(0, 100).map(({ path, message }) => `${path.join('.')}: ${message}`);
  return { error, problems };
}

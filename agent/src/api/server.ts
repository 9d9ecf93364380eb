import type { IncomingMessage } from 'node:http';
import type { Server } from 'node:https';
import { finished } from 'node:stream/promises';
import type { TLSSocket } from 'node:tls';
import fastify, { type FastifyError, type FastifyInstance, type FastifyReply } from 'fastify';
import { Cancelled, Refused, type Log } from '@haptic/core/contract';
import type { FollowedCredentials } from '@haptic/core/tls';
import type { z } from 'zod';
import { applyRequestSchema, LIMITS, stateQuerySchema, type ErrorAnswer } from '../protocol/index.ts';
import type { AgentService } from '../services.ts';
import { ControllerConnections, type ConnectionFacts } from './controller-connections.ts';
import { contextOptions } from './tls-options.ts';
import { authorized, type TokenSource } from './token.ts';

const METHODS: Readonly<Record<string, string>> = { '/v1/state': 'GET', '/v1/apply': 'POST' };

const DRAIN_MS = 5_000;

export interface ApiFacts {
  readonly agent: AgentService;
  readonly log: Log;
  /** Aborted when the agent stops. */
  readonly signal: AbortSignal;
  /** What a caller must show; at least one of the two. */
  readonly token?: TokenSource | undefined;
  readonly tls?: Omit<ConnectionFacts, 'log' | 'signal'> | undefined;
  /** Told of each call that ended in an error that the code does not expect. */
  readonly failed: () => void;
}

/** The two calls of the protocol, nothing else, and nothing for somebody who is no controller. */
export function createApi(facts: ApiFacts): FastifyInstance {
  const { log, signal, tls, token } = facts;
  const server = newServer(tls?.credentials);
  server.removeContentTypeParser('text/plain');
  if (tls !== undefined)
    admitControllers(server, new ControllerConnections(tlsServer(server), { ...tls, log, signal }));
  server.addHook('onRequest', async (request, reply) => {
    if (token !== undefined && !authorized(request.headers.authorization, token)) {
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
    const state = await facts.agent.state(query.data, AbortSignal.any([gone.signal, signal]));
    return tls === undefined ? state : { ...state, tls: tls.credentials.current.fingerprints };
  });
  server.post('/v1/apply', async (request, reply) => {
    if (request.body === undefined)
      return fail(reply, 422, { error: 'expected a body of JSON, there is none' });
    const message = applyRequestSchema.safeParse(request.body);
    if (!message.success) return fail(reply, 422, broken('the message is broken', message.error));
    const { status, body } = await facts.agent.apply(message.data);
    return reply.code(status).send(body);
  });
  server.setNotFoundHandler((request, reply) => {
    const known = Object.entries(METHODS).map(([path, method]) => `${method} ${path}`);
    return fail(reply, 404, { error: `no such call: ${request.url}; there are ${known.join(' and ')}` });
  });
  server.setErrorHandler(async (error: FastifyError, request, reply) => {
    if (error.statusCode === 413) await drained(request.raw);
    if (error.statusCode === 415) return fail(reply, 415, unsupported(request.headers['content-type']));
    return failWith(error, reply, facts);
  });
  return server;
}

function newServer(credentials: FollowedCredentials | undefined): FastifyInstance {
  const options = {
    bodyLimit: LIMITS.body,
    // A close waits for no idle connection; fastify's own default does.
    forceCloseConnections: true,
    logger: false,
  } as const;
  if (credentials === undefined) return fastify(options);
  const https = {
    ...contextOptions(credentials.current),
    requestCert: true,
    rejectUnauthorized: true,
    handshakeTimeout: 10_000,
  };
  // The instance is the same but for the type of `server`.
  return fastify({ ...options, https });
}

function tlsServer(server: FastifyInstance): Server {
  return server.server as unknown as Server;
}

/** Before anything else is looked at. What arrives on a connection of before a change of authorities is not answered. */
function admitControllers(server: FastifyInstance, connections: ControllerConnections): void {
  server.addHook('onRequest', async (request, reply) => {
    const socket = request.raw.socket as TLSSocket;
    if (connections.isStale(socket)) {
      void reply.hijack();
      socket.destroy();
      return undefined;
    }
    const error = connections.problem(socket);
    return error === undefined ? undefined : fail(reply.header('connection', 'close'), 403, { error });
  });
  server.addHook('onSend', async (request, reply) => {
    if (connections.isStale(request.raw.socket as TLSSocket)) void reply.header('connection', 'close');
  });
}

/** A sender that is still writing when the connection ends sees that, and not the answer. It gets some seconds for the rest. */
async function drained(message: IncomingMessage): Promise<void> {
  const signal = AbortSignal.timeout(DRAIN_MS);
  await finished(message.resume(), { signal, writable: false }).catch(() => {});
}

function failWith(error: FastifyError, reply: FastifyReply, { log, failed }: ApiFacts): FastifyReply {
  if (error.code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    return fail(reply, 413, { error: `the message has more than ${LIMITS.body} bytes` });
  }
  // A body that is no JSON is as broken as one of another shape.
  if (error.statusCode === 400) return fail(reply, 422, { error: error.message });
  if (error.statusCode !== undefined && error.statusCode < 500) {
    return fail(reply, error.statusCode, { error: error.message });
  }
  // A token file that is not there for a moment, or not any more: who asks is not told where.
  if (error instanceof Refused) {
    log.error({ err: error }, 'cannot tell who calls');
    return fail(reply, 503, { error: 'the agent cannot read its token; its log says why' });
  }
  // The caller has gone, or the agent stops.
  if (error instanceof Cancelled || error.name === 'AbortError')
    return fail(reply, 503, { error: 'the call was given up' });
  failed();
  log.error({ err: error }, 'a call failed');
  return fail(reply, 500, { error: error.message });
}

function fail(reply: FastifyReply, status: number, answer: ErrorAnswer): FastifyReply {
  return reply.code(status).send(answer);
}

function broken(error: string, cause: z.ZodError): ErrorAnswer {
  const problems = cause.issues
    .slice(0, 100)
    .map(({ path, message }) => `${path.length === 0 ? 'the body' : path.join('.')}: ${message}`);
  return { error, problems };
}

function unsupported(type: string | undefined): ErrorAnswer {
  const given = type === undefined ? 'one of no type' : JSON.stringify(type.slice(0, 100));
  return { error: `expected a body of the type application/json, received ${given}` };
}

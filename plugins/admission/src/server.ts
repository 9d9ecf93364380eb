import fastify, { type FastifyInstance } from 'fastify';
import type { Server } from 'node:https';
import type { Socket } from 'node:net';
import { redactText, type Log, type Meter, type MetricDefinition } from '@haptic/core/contract';
import { sameAuthorities, type Credentials, type FollowedCredentials } from '@haptic/core/tls';
import { boundRequests } from './bounded-requests.ts';
import { KindLabels } from './kind-labels.ts';
import { redacted, reviewBody, reviewSchema, type ReviewAnswer, type ReviewRequest } from './review.ts';

export interface ServerParts {
  readonly credentials: FollowedCredentials;
  readonly judge: (request: ReviewRequest, signal: AbortSignal) => Promise<ReviewAnswer>;
  /** Shorter than what the API server waits, milliseconds. */
  readonly deadline: number;
  readonly log: Log;
  readonly meter: Meter;
}

const REQUESTS: MetricDefinition = {
  name: 'haptic_webhook_requests_total',
  help: 'Admission requests by kind of object and what became of them.',
  labels: ['kind', 'result'],
};
const DURATION: MetricDefinition = {
  name: 'haptic_webhook_duration_seconds',
  help: 'Time from an admission request to its answer.',
};

/** An object of etcd's largest size, twice (old and new), and what is around it. */
const BODY_LIMIT = 8 * 1024 * 1024;

/** An API server gives up after ten seconds; who is slower is none. */
const SLOWEST_MS = 10_000;

/** `POST /validate` for API servers, over TLS. */
export function createServer(parts: ServerParts): FastifyInstance<Server> {
  const { credentials, judge, deadline, log, meter } = parts;
  const kinds = new KindLabels();
  const server = fastify({
    bodyLimit: BODY_LIMIT,
    forceCloseConnections: true,
    logger: false,
    requestTimeout: SLOWEST_MS,
    https: {
      ...contextOf(credentials.current),
      handshakeTimeout: SLOWEST_MS,
      ...demands(credentials.current),
    },
  });
  boundRequests(server, BODY_LIMIT);
  followCredentials(server, credentials);
  server.post('/validate', async (request, reply) => {
    const review = reviewSchema.safeParse(request.body);
    if (!review.success)
      return reply.code(422).send({ error: 'expected an AdmissionReview of admission.k8s.io/v1' });
    const asked = review.data.request;
    const stop = meter.time(DURATION);
    const signal = AbortSignal.timeout(Math.min(deadline, patience(request.query)));
    const answer = redacted(await judge(asked, signal));
    stop();
    const { kind } = asked.object ?? asked.oldObject ?? { kind: 'unknown' };
    const result = answer.allowed ? 'allowed' : answer.code === 503 ? 'not_judged' : 'denied';
    meter.count(REQUESTS, { kind: kinds.of(kind), result });
    if (!answer.allowed) {
      const object = `${asked.namespace ?? ''}/${asked.name ?? ''}`;
      log.info({ kind, object, result, message: answer.message }, 'did not admit a change');
    }
    return reviewBody(asked.uid, answer);
  });
  server.setErrorHandler((error: Error & { readonly statusCode?: number }, _request, reply) => {
    const status = error.statusCode ?? 500;
    if (status >= 500) log.error({ err: error }, 'an admission request failed');
    return reply.code(status).send({ error: redactText(error.message) });
  });
  return server;
}

/** What the API server says it waits for, less the way back. Milliseconds. */
function patience(query: unknown): number {
  const { timeout } = query as { readonly timeout?: string };
  const seconds = /^(\d{1,2})s$/.exec(timeout ?? '')?.[1];
  return seconds === undefined ? Infinity : Math.max(500, Number(seconds) * 1_000 - 1_000);
}

/**
 * Connections of before a change of authorities end: at once where nothing happens on them, else with their answer. An API server keeps
 * them for long, and whoever is not trusted any more would, too.
 */
function followCredentials(server: FastifyInstance<Server>, credentials: FollowedCredentials): void {
  const trustedBy = new WeakMap<Socket, Credentials>();
  server.server.on('secureConnection', (socket: Socket) => trustedBy.set(socket, credentials.current));
  credentials.onChange((next, before) => {
    server.server.setSecureContext(contextOf(next));
    if (!sameAuthorities(next, before)) server.server.closeIdleConnections();
  });
  server.addHook('onSend', async ({ raw: { socket } }, reply) => {
    const before = trustedBy.get(socket);
    if (before === undefined || !sameAuthorities(before, credentials.current))
      void reply.header('connection', 'close');
  });
}

/** Without authorities everybody may ask. */
function demands({ ca }: Credentials): { readonly requestCert?: true; readonly rejectUnauthorized?: true } {
  return ca === undefined ? {} : { requestCert: true, rejectUnauthorized: true };
}

type Context = Pick<Credentials, 'cert' | 'key' | 'ca'> & { readonly minVersion: 'TLSv1.2' };

function contextOf({ cert, key, ca }: Credentials): Context {
  // API servers of the oldest release that is supported speak TLS 1.3, proxies in front of us may not.
  return { cert, key, ca, minVersion: 'TLSv1.2' };
}

import { request, type ClientRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { Refused, type ProbeAnswer, type RouteRequest } from '@haptic/core/contract';
import { LOOPBACK } from './held-ports.ts';

type Answer = Pick<ProbeAnswer, 'status' | 'location'>;

/** More than HAProxy takes for three attempts at a server that refuses. */
const TIMEOUT_MS = 8000;

function headersOf({ host, headers }: RouteRequest): Readonly<Record<string, string | string[]>> {
  const own = Object.entries(headers).map(([name, value]) => {
    return [name, typeof value === 'string' ? value : [...value]] as const;
  });
  return { ...(host !== undefined && { host }), ...Object.fromEntries(own), connection: 'close' };
}

/** The certificates of tests are whatever their authors have; who serves is known. */
function secure(port: number, { tls, host }: RouteRequest): TLSSocket {
  const name = tls === undefined || tls === true ? host?.replace(/:\d+$/, '') : (tls.sni ?? host);
  return connectTls({
    host: LOOPBACK,
    port,
    // An address is no server name; without one nothing is sent.
    servername: name === undefined || /^[\d.]+$|:/.test(name) ? '' : name,
    rejectUnauthorized: false,
    ALPNProtocols: ['http/1.1'],
  });
}

function open(port: number, asked: RouteRequest, signal: AbortSignal): ClientRequest {
  const { method, path, tls } = asked;
  return request({
    host: LOOPBACK,
    port,
    method,
    path,
    headers: headersOf(asked),
    setHost: false,
    signal,
    // Without an agent: every connection is a new one.
    createConnection: () => (tls === undefined ? connect({ host: LOOPBACK, port }) : secure(port, asked)),
  });
}

function answerOf({ statusCode, headers: { location } }: IncomingMessage): Answer {
  return {
    ...(statusCode !== undefined && { status: statusCode }),
    ...(location !== undefined && { location }),
  };
}

/**
 * Sends one request on a connection of its own. A connection that is closed, or nothing in time, is an answer without a status.
 *
 * @throws Refused for what cannot be sent.
 */
export function sendRequest(port: number, asked: RouteRequest, signal: AbortSignal): Promise<Answer> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
  return new Promise((resolve, reject) => {
    let client: ClientRequest;
    try {
      client = open(port, asked, limit);
    } catch (error) {
      reject(new Refused(`${asked.method} ${asked.path} cannot be sent: ${(error as Error).message}`));
      return;
    }
    const answered = (response: IncomingMessage): void => {
      response.destroy();
      resolve(answerOf(response));
    };
    client.on('response', answered).on('upgrade', answered).on('connect', answered);
    client.on('error', () => resolve({}));
    client.end();
  });
}

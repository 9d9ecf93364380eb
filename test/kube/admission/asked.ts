import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { connect } from 'node:tls';
import { fakeClock, memoryLog, memoryMeter, type FakeClock, type MemoryLog } from '@haptic/core/testing';
import { FollowedCredentials, type CredentialFiles } from '@haptic/core/tls';
import type { ReviewAnswer, ReviewRequest } from '../../../plugins/admission/src/review.ts';
import { createServer } from '../../../plugins/admission/src/server.ts';
import { onCleanup } from '../../haproxy/cleanup.ts';

/** The webhook's server, without a controller behind it. */
export interface Asked {
  readonly clock: FakeClock;
  readonly log: MemoryLog;
  /** Requests that were counted, of all kinds together. */
  count(): number;
}

/** Ends with the test. Files are read anew when its clock moves. */
export async function startAsked(
  files: CredentialFiles,
  port: number,
  judge: (request: ReviewRequest, signal: AbortSignal) => Promise<ReviewAnswer> = () =>
    Promise.resolve({ allowed: true }),
): Promise<Asked> {
  const clock = fakeClock();
  const [log, meter] = [memoryLog(), memoryMeter(clock)];
  const credentials = new FollowedCredentials({ files, log, clock });
  onCleanup(async () => credentials[Symbol.dispose]());
  const server = createServer({ credentials, judge, deadline: 9_000, log, meter });
  onCleanup(() => server.close());
  await server.listen({ host: '127.0.0.1', port });
  const count = (): number =>
    meter.series('haptic_webhook_requests_total').reduce((sum, { value }) => sum + value, 0);
  return { clock, log, count };
}

/** Of the certificate that a new connection is shown. */
export async function servedSerial({
  port,
  ca,
}: {
  readonly port: number;
  readonly ca: string;
}): Promise<string> {
  const socket = connect({ host: '127.0.0.1', port, ca });
  try {
    await once(socket, 'secureConnect');
    return socket.getPeerCertificate().serialNumber;
  } finally {
    socket.destroy();
  }
}

/** What an API server would ask. */
const review = JSON.stringify({
  apiVersion: 'admission.k8s.io/v1',
  kind: 'AdmissionReview',
  request: {
    uid: 'u',
    operation: 'CREATE',
    resource: { group: '', version: 'v1', resource: 'configmaps' },
    object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'n' } },
  },
});

/** Of a client that keeps its connections; they end with the test. */
export function agentOf(options: object): Agent {
  const agent = new Agent({ keepAlive: true, ...options });
  onCleanup(() => agent.destroy());
  return agent;
}

interface Answer {
  readonly status: number | undefined;
  readonly body: string;
}

/** With `length` it announces so many bytes and sends none. */
export async function post(port: number, agent: Agent, length?: number, query = ''): Promise<Answer> {
  const size = length ?? Buffer.byteLength(review);
  const headers = { 'content-type': 'application/json', 'content-length': size };
  const sent = request({
    host: '127.0.0.1',
    port,
    path: `/validate${query}`,
    method: 'POST',
    agent,
    headers,
  });
  if (length === undefined) sent.end(review);
  else sent.flushHeaders();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  if (length !== undefined) sent.on('error', () => {}).destroy();
  return { status: response.statusCode, body: Buffer.concat(chunks).toString() };
}

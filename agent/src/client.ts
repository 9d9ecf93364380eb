import { request, type ClientRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as secureRequest } from 'node:https';
import { Retry } from '@haptic/core/contract';
import { clientTlsOptions, readCredentials, type CredentialFiles } from '@haptic/core/tls';
import { connectionMismatch, hasCode, LIMITS, stateSchema, type AgentState } from './protocol/index.ts';
import type { ListenAddress } from './api/listen.ts';

/** How an agent is spoken to; at least one of the two. */
export interface AskSecrets {
  readonly token?: string | undefined;
  /** Files of a controller's, and the name that the agent's certificate must have. */
  readonly tls?: (CredentialFiles & { readonly agentName: string }) | undefined;
}

/** Of an answer that nobody expects, characters. */
const MOST_WORDS = 500;

/** Asks an agent for its state: for people at a terminal and for probes. @throws Retry when it cannot be had. */
export async function askState(
  address: ListenAddress,
  secrets: AskSecrets,
  query: { readonly verify?: boolean; readonly plan?: boolean } = {},
): Promise<AgentState> {
  const flags = `verify=${Number(query.verify ?? false)}&plan=${Number(query.plan ?? false)}`;
  const { status, body } = await get(address, `/v1/state?${flags}`, secrets);
  if (status !== 200) throw new Retry(`the agent answers ${status}: ${body.slice(0, MOST_WORDS)}`);
  const state = stateSchema.safeParse(parsed(body));
  if (!state.success) throw new Retry(`the answer is not that of an agent: ${body.slice(0, MOST_WORDS)}`);
  return state.data;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function get(
  address: ListenAddress,
  path: string,
  { token, tls }: AskSecrets,
): Promise<{ status: number; body: string }> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const options = { ...address, path, headers, timeout: 30_000, agent: false };
  return new Promise((resolve, reject) => {
    const call = begin(options, tls).once('response', (response: IncomingMessage) => {
      const chunks: Buffer[] = [];
      let size = 0;
      response.on('data', (chunk: Buffer) => {
        size += chunk.byteLength;
        if (size <= LIMITS.body) return void chunks.push(chunk);
        reject(new Retry('the answer is too long'));
        call.destroy();
      });
      response.on('error', () => reject(new Retry('the connection ended in the middle of the answer')));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() }),
      );
    });
    call.on('timeout', () => call.destroy(new Retry('no answer within 30 s')));
    call.on('error', (error: NodeJS.ErrnoException) => reject(explained(error, address, tls)));
    call.end();
  });
}

const NOBODY = ['ECONNREFUSED', 'ENOENT'];

/** A server that refuses a client's certificate just ends the connection. */
function explained(error: NodeJS.ErrnoException, address: ListenAddress, tls: AskSecrets['tls']): Error {
  const place = 'port' in address ? `${address.host}:${address.port}` : address.socketPath;
  const mismatch = 'port' in address ? connectionMismatch(error, tls !== undefined) : undefined;
  if (mismatch !== undefined) {
    const words =
      mismatch === 'expects_tls'
        ? `${place} ended the connection without an answer to plain HTTP: an agent with certificates expects https there, give --tls-cert, --tls-key and --tls-ca of a controller`
        : `${place} speaks no TLS: an agent without certificates expects plain HTTP there, leave out --tls-cert, --tls-key and --tls-ca and give its --token-file`;
    return new Retry(words, { cause: error });
  }
  if (hasCode(error, NOBODY)) return new Retry(`no agent listens on ${place}`, { cause: error });
  if (tls === undefined || error.code !== 'ECONNRESET') return error;
  const words = 'the agent ended the connection; if it refused the certificate, its log says why';
  return new Retry(words, { cause: error });
}

function begin(options: RequestOptions, tls: AskSecrets['tls']): ClientRequest {
  if (tls === undefined) return request(options);
  const { agentName, ...files } = tls;
  return secureRequest({ ...options, ...clientTlsOptions(readCredentials(files, agentName), agentName) });
}

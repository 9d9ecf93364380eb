import type { KubeConfig } from '@kubernetes/client-node';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { onTestFinished } from 'vitest';
import { KubeApi } from '../api.ts';
import { loadKubeConfig } from '../config.ts';

export interface Call {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: IncomingMessage['headers'];
  readonly body: unknown;
}

type Answer = (response: ServerResponse, call: Call) => void | Promise<void>;

/** A server that gives the answers it was told to, in their order: what a real one does only on a bad day. */
export class ScriptedApi {
  readonly calls: Call[] = [];
  readonly #server: Server;
  readonly #answers: Answer[] = [];
  #otherwise: Answer = (response) => void response.writeHead(500).end();

  private constructor() {
    this.#server = createServer((request, response) => void this.#handle(request, response));
  }

  /** Ends with the test. */
  static async start(): Promise<ScriptedApi> {
    const scripted = new ScriptedApi();
    scripted.#server.listen(0, '127.0.0.1');
    await once(scripted.#server, 'listening');
    onTestFinished(async () => {
      scripted.#server.closeAllConnections();
      await new Promise((resolve) => void scripted.#server.close(resolve));
    });
    return scripted;
  }

  /** A client of this server; it is closed with the test. */
  client(): KubeApi {
    const api = new KubeApi(this.kubeConfig());
    onTestFinished(() => api.close());
    return api;
  }

  kubeConfig(fields: object = {}): KubeConfig {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('the server does not listen');
    const cluster = {
      server: `http://127.0.0.1:${address.port}`,
      'insecure-skip-tls-verify': true,
      ...fields,
    };
    const text = JSON.stringify({
      'current-context': 'test',
      clusters: [{ name: 'test', cluster }],
      contexts: [{ name: 'test', context: { cluster: 'test', user: 'test', namespace: 'here' } }],
      users: [{ name: 'test', user: { token: 'secret-token' } }],
    });
    return loadKubeConfig({ text });
  }

  next(...answers: readonly Answer[]): void {
    this.#answers.push(...answers);
  }

  /** When the script is at its end. */
  otherwise(answer: Answer): void {
    this.#otherwise = answer;
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://server');
    let text = '';
    for await (const chunk of request) text += String(chunk);
    const call = {
      method: request.method ?? '',
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      headers: request.headers,
      body: text === '' ? undefined : (JSON.parse(text) as unknown),
    };
    this.calls.push(call);
    const answer = this.#answers.shift() ?? this.#otherwise;
    await answer(response, call);
  }
}

export function sends(code: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Answer {
  return (response) => void response.writeHead(code, headers).end(JSON.stringify(body));
}

export function status(code: number, reason: string): unknown {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    code,
    reason,
    message: `${reason}, says the test`,
  };
}

export function reset(): Answer {
  return (response) => void response.socket?.resetAndDestroy();
}

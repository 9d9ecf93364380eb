import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Agent, request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { onCleanup } from '../../haproxy/cleanup.ts';

interface Kubeconfig {
  readonly clusters: readonly [{ readonly name: string; readonly cluster: { readonly server: string } }];
  readonly users: readonly [{ readonly user: Readonly<Record<string, string>> }];
  readonly [field: string]: unknown;
}

interface Exchange {
  readonly path: string;
  readonly query: URLSearchParams;
  /** Of the answer, as far as it has come. */
  text: string;
}

/** Stands between one user and the API server and remembers what was asked and answered. Ends with the test. */
export class Recorder {
  readonly exchanges: Exchange[] = [];
  readonly #server: Server;
  readonly #target: string;
  readonly #agent: Agent;

  private constructor({ clusters: [{ cluster }], users: [{ user }] }: Kubeconfig, ca: string) {
    const pem = (field: string): Buffer => Buffer.from(user[field]!, 'base64');
    this.#target = cluster.server;
    this.#agent = new Agent({
      ca,
      cert: pem('client-certificate-data'),
      key: pem('client-key-data'),
      keepAlive: true,
    });
    this.#server = createServer((incoming, answer) => this.#relay(incoming, answer));
  }

  /** With the kubeconfig of the way through it. */
  static async of(text: string, ca: string): Promise<{ recorder: Recorder; kubeconfig: string }> {
    const config = JSON.parse(text) as Kubeconfig;
    const recorder = new Recorder(config, ca);
    recorder.#server.listen(0, '127.0.0.1');
    await once(recorder.#server, 'listening');
    onCleanup(() => recorder.#close());
    const { port } = recorder.#server.address() as AddressInfo;
    const cluster = { server: `http://127.0.0.1:${port}`, 'insecure-skip-tls-verify': true };
    const clusters = [{ name: config.clusters[0].name, cluster }];
    const users = [{ name: 'test', user: {} }];
    return { recorder, kubeconfig: JSON.stringify({ ...config, clusters, users }) };
  }

  /** `place?selector` of each list of this resource, once. */
  lists(resource: string): readonly string[] {
    const lists = this.exchanges.filter(
      ({ path, query }) => path.endsWith(`/${resource}`) && !query.has('watch'),
    );
    return [...new Set(lists.map(({ path, query }) => `${path}?${query.get('fieldSelector') ?? ''}`))];
  }

  /** Everything that was answered. */
  get text(): string {
    return this.exchanges.map(({ text }) => text).join('\n');
  }

  #relay(incoming: IncomingMessage, answer: ServerResponse): void {
    const url = new URL(incoming.url ?? '/', this.#target);
    const exchange: Exchange = { path: url.pathname, query: url.searchParams, text: '' };
    this.exchanges.push(exchange);
    const { method, headers } = incoming;
    const sent = request(url, { method, headers: { ...headers, host: url.host }, agent: this.#agent });
    sent.on('response', (response) => {
      answer.writeHead(response.statusCode ?? 500, response.headers);
      answer.flushHeaders();
      response.on('data', (chunk: Buffer) => {
        exchange.text += chunk.toString('latin1');
        answer.write(chunk);
      });
      response.on('end', () => void answer.end());
      response.on('error', () => void answer.destroy());
    });
    sent.on('error', () => void answer.destroy());
    answer.on('close', () => void sent.destroy());
    incoming.pipe(sent);
  }

  async #close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#agent.destroy();
    await new Promise((resolve) => void this.#server.close(resolve));
  }
}

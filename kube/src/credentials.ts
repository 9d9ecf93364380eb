import type { KubeConfig } from '@kubernetes/client-node';
import type { RequestOptions } from 'node:https';
import { Agent, ProxyAgent, type buildConnector, type Dispatcher } from 'undici';

export interface Credentials {
  readonly headers: Readonly<Record<string, string>>;
  readonly dispatcher: Dispatcher;
}

/**
 * Signs requests as the kubeconfig says: tokens are re-read and exec plugins run again when client-node finds them old.
 * client-node itself makes a connection pool per request; here one pool lives as long as its certificates do.
 */
export class CredentialSource {
  readonly #config: KubeConfig;
  #pool: { readonly key: string; readonly dispatcher: Dispatcher } | undefined;

  constructor(config: KubeConfig) {
    this.#config = config;
  }

  async current(): Promise<Credentials> {
    const options: RequestOptions = {};
    await this.#config.applyToHTTPSOptions(options);
    return { headers: headersOf(options), dispatcher: this.#dispatcher(options) };
  }

  /** Ends the connections of the current pool; those of older ones end with their requests. */
  async close(): Promise<void> {
    const pool = this.#pool;
    this.#pool = undefined;
    await pool?.dispatcher.destroy();
  }

  #dispatcher(options: RequestOptions): Dispatcher {
    const { ca, cert, key, passphrase, rejectUnauthorized, servername } = options;
    const material = { ca, cert, key, passphrase, rejectUnauthorized, servername };
    const identity = JSON.stringify(material);
    if (this.#pool?.key === identity) return this.#pool.dispatcher;
    // The old pool ends by itself when the requests that still run on it are done.
    void this.#pool?.dispatcher.close().catch(() => undefined);
    this.#pool = { key: identity, dispatcher: this.#connect(definedOf(material)) };
    return this.#pool.dispatcher;
  }

  #connect(tls: object): Dispatcher {
    const cluster = this.#config.getCurrentCluster();
    const chosen = this.#config.createDispatcherOptions(cluster, tls);
    // HTTP/1.1: a watch has a connection of its own, so one that stalls or breaks takes no other with it. Deadlines are ours.
    const own = { allowH2: false, headersTimeout: 0, bodyTimeout: 0 } as const;
    switch (chosen.type) {
      case 'proxy':
        return new ProxyAgent({
          ...own,
          uri: chosen.uri,
          requestTls: chosen.requestTls as buildConnector.BuildOptions,
        });
      case 'agent':
        return new Agent({ ...own, connect: chosen.connect as buildConnector.BuildOptions });
      case 'none':
        return new Agent(own);
      case 'socks':
        break;
    }
    throw new Error('a SOCKS proxy in a kubeconfig is not supported, an HTTP proxy is');
  }
}

function definedOf(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function headersOf(options: RequestOptions): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(options.headers ?? {})) headers[name] = String(value);
  if (typeof options.auth === 'string') {
    headers['Authorization'] = `Basic ${Buffer.from(options.auth).toString('base64')}`;
  }
  return headers;
}

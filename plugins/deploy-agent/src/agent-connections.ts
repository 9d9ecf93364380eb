import { Pool, type Dispatcher } from 'undici';
import { connectionMismatch, hasCode } from '@haptic/agent/protocol';
import { clientTlsOptions, type FollowedCredentials } from '@haptic/core/tls';

/** How an agent that others can reach is spoken to. */
export interface AgentTls {
  readonly credentials: FollowedCredentials;
  /** The DNS name that an agent's certificate must have, wherever the agent is. */
  readonly agentName: string;
}

export interface ConnectionTarget {
  readonly url?: string | undefined;
  readonly socketPath?: string | undefined;
  readonly tls?: AgentTls | undefined;
}

export interface AgentResponse {
  readonly status: number;
  readonly body: unknown;
}

/** How long what was asked on connections of before may still take when others are to be used, milliseconds. */
const GRACE_MS = 10_000;

/**
 * The connections to one agent. With other certificates there are other connections: those of before take nothing more, and
 * end when they have had their time.
 */
export class AgentConnections {
  readonly #target: ConnectionTarget;
  readonly #maxResponseSize: number;
  readonly #replaced = new Map<Pool, NodeJS.Timeout>();
  readonly #stopFollowing: () => void;
  #pool: Pool;

  constructor(target: ConnectionTarget, maxResponseSize: number) {
    this.#target = target;
    this.#maxResponseSize = maxResponseSize;
    this.#pool = this.#newPool();
    this.#stopFollowing = target.tls?.credentials.onChange(() => this.#renew()) ?? (() => {});
  }

  /**
   * Asks once more where a connection ended that may have been over already: what is asked of an agent may be repeated. Every
   * server ends connections that are idle, and an agent those whose authorities it trusts no more.
   */
  async request(options: Dispatcher.RequestOptions): Promise<AgentResponse> {
    const pool = this.#pool;
    try {
      return await ask(pool, options);
    } catch (error) {
      const isOver = hasCode(error, ENDED) || (pool !== this.#pool && hasCode(error, CLOSED_BY_US));
      if (!isOver) this.#giveUp(error);
      return await ask(this.#pool, options).catch((again: unknown) => this.#giveUp(again));
    }
  }

  /** A server that refuses a client's certificate just ends the connection. */
  #giveUp(error: unknown): never {
    const { url, tls } = this.#target;
    const mismatch = url === undefined ? undefined : connectionMismatch(error, tls !== undefined);
    if (mismatch !== undefined) throw new Error(`${url} ${MISMATCHES[mismatch]}`, { cause: error });
    if (tls === undefined || !hasCode(error, ENDED)) throw error;
    const words = 'the agent ended the connection; if it refused the certificate, its log says why';
    throw new Error(words, { cause: error });
  }

  async close(): Promise<void> {
    this.#stopFollowing();
    const replaced = [...this.#replaced];
    for (const [, timer] of replaced) clearTimeout(timer);
    await Promise.all([this.#pool, ...replaced.map(([pool]) => pool)].map((pool) => pool.destroy()));
  }

  #newPool(): Pool {
    const { url = 'http://agent', socketPath, tls } = this.#target;
    return new Pool(url, {
      ...(socketPath !== undefined && { socketPath }),
      connect: {
        timeout: 5_000,
        ...(tls !== undefined && clientTlsOptions(tls.credentials.current, tls.agentName)),
        // Each connection verifies anew.
        maxCachedSessions: 0,
      },
      maxResponseSize: this.#maxResponseSize,
      // A long poll must not hold up an apply, nor that the state after it.
      connections: 4,
      pipelining: 1,
      allowH2: false,
    });
  }

  #renew(): void {
    const before = this.#pool;
    this.#pool = this.#newPool();
    const end = (): void => {
      this.#replaced.delete(before);
      before.destroy().catch(() => {});
    };
    this.#replaced.set(before, setTimeout(end, GRACE_MS));
    before
      .close()
      .catch(() => {})
      .finally(() => {
        clearTimeout(this.#replaced.get(before));
        this.#replaced.delete(before);
      });
  }
}

async function ask(pool: Pool, options: Dispatcher.RequestOptions): Promise<AgentResponse> {
  const response = await pool.request(options);
  return { status: response.statusCode, body: await response.body.json() };
}

const MISMATCHES = {
  expects_tls:
    'ended the connection without an answer to plain HTTP: an agent with certificates expects https there, write https:// in the `url` of the pod and set the option `tls`',
  speaks_no_tls:
    'speaks no TLS: the agent there has no certificates, start it with --tls-cert, --tls-key and --tls-ca, or write http:// in the `url` of the pod where that is a loopback address and give its `tokenFile`',
} as const;

const ENDED = ['UND_ERR_SOCKET', 'ECONNRESET'];
const CLOSED_BY_US = ['UND_ERR_DESTROYED', 'UND_ERR_CLOSED'];

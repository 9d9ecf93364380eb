import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** A TCP relay before an API server. It reads nothing of what passes (TLS goes through). */
export class ChaosProxy {
  readonly #server: Server;
  readonly #target: number;
  readonly #pairs = new Map<Socket, Socket>();
  #latency = 0;
  #refusing = false;
  #silent = false;
  #holding = false;
  #keeping = false;
  /** What clients have sent and nobody has got, by the connection that it is for. */
  readonly #kept = new Map<Socket, { readonly client: Socket; readonly chunks: Buffer[] }>();

  private constructor(target: number) {
    this.#target = target;
    this.#server = createServer((client) => this.#relay(client));
  }

  static async start(target: number): Promise<ChaosProxy> {
    const proxy = new ChaosProxy(target);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get port(): number {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('the proxy does not listen');
    return address.port;
  }

  get openConnections(): number {
    return this.#pairs.size;
  }

  /** Resets every open connection. */
  cut(): void {
    for (const [client, upstream] of this.#pairs) {
      client.resetAndDestroy();
      upstream.destroy();
    }
  }

  /** Delays each chunk, in both directions. Milliseconds. */
  slow(latency: number): void {
    this.#latency = latency;
  }

  /** New connections are reset at once. */
  refuse(refusing: boolean): void {
    this.#refusing = refusing;
  }

  /** Open connections stay open and nothing passes, as behind a dead firewall. What arrives meanwhile is delivered later. */
  silence(silent: boolean): void {
    this.#silent = silent;
    for (const [client, upstream] of this.#pairs) this.#stopOrGo(client, upstream);
  }

  /** Requests pass and are carried out, and nobody hears of it: cut, the answers are lost. */
  holdAnswers(holding: boolean): void {
    this.#holding = holding;
    for (const [client, upstream] of this.#pairs) this.#stopOrGo(client, upstream);
  }

  /** What clients send from now on is kept, as by a network that is late; they may go away meanwhile. Answers pass. */
  holdRequests(): void {
    this.#keeping = true;
  }

  /** Connections with something that is kept. */
  get heldRequests(): number {
    return this.#kept.size;
  }

  /** What was kept arrives after all, also of clients that are gone. Resolves when the server has answered all of it. */
  async deliverRequests(): Promise<void> {
    this.#keeping = false;
    await Promise.all([...this.#kept.keys()].map((upstream) => this.#deliver(upstream)));
  }

  async stop(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.cut();
    for (const upstream of this.#kept.keys()) upstream.destroy();
    await closed;
  }

  async #deliver(upstream: Socket): Promise<void> {
    const { client, chunks } = this.#kept.get(upstream)!;
    const closed = once(upstream, 'close').then(() => {
      throw new Error('the server closed a connection before it got what was kept');
    });
    upstream.write(Buffer.concat(chunks));
    await Promise.race([once(upstream, 'data'), closed]);
    this.#kept.delete(upstream);
    if (client.destroyed) upstream.destroy();
  }

  /** Whether it was kept. */
  #keep(client: Socket, upstream: Socket, chunk: Buffer): boolean {
    if (!this.#keeping) return false;
    const { chunks } = this.#kept.get(upstream) ?? { chunks: [] };
    this.#kept.set(upstream, { client, chunks: [...chunks, chunk] });
    return true;
  }

  #stopOrGo(client: Socket, upstream: Socket): void {
    if (this.#silent) client.pause();
    else client.resume();
    if (this.#silent || this.#holding) upstream.pause();
    else upstream.resume();
  }

  #relay(client: Socket): void {
    client.on('error', () => undefined);
    if (this.#refusing) {
      client.resetAndDestroy();
      return;
    }
    const upstream = connect(this.#target, '127.0.0.1');
    upstream.on('error', () => undefined);
    this.#pairs.set(client, upstream);
    upstream.on('close', () => client.destroy());
    client.on('close', () => {
      this.#pairs.delete(client);
      if (!this.#kept.has(upstream)) upstream.destroy();
    });
    const keep = (chunk: Buffer): boolean => this.#keep(client, upstream, chunk);
    this.#pump(client, upstream, () => this.#silent, keep);
    this.#pump(upstream, client, () => this.#silent || this.#holding);
  }

  #pump(
    from: Socket,
    to: Socket,
    isStopped: () => boolean,
    keep: (chunk: Buffer) => boolean = () => false,
  ): void {
    const goOn = (): void => {
      if (!isStopped()) from.resume();
    };
    if (isStopped()) from.pause();
    from.on('data', (chunk: Buffer) => {
      if (keep(chunk)) return;
      from.pause();
      const pass = (): void => {
        if (to.write(chunk)) goOn();
        else to.once('drain', goOn);
      };
      if (this.#latency === 0) pass();
      else setTimeout(pass, this.#latency);
    });
    from.on('end', () => {
      if (!this.#kept.has(to)) to.end();
    });
  }
}

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

  async stop(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.cut();
    await closed;
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
      upstream.destroy();
    });
    this.#pump(client, upstream, () => this.#silent);
    this.#pump(upstream, client, () => this.#silent || this.#holding);
  }

  #pump(from: Socket, to: Socket, isStopped: () => boolean): void {
    const goOn = (): void => {
      if (!isStopped()) from.resume();
    };
    if (isStopped()) from.pause();
    from.on('data', (chunk: Buffer) => {
      from.pause();
      const pass = (): void => {
        if (to.write(chunk)) goOn();
        else to.once('drain', goOn);
      };
      if (this.#latency === 0) pass();
      else setTimeout(pass, this.#latency);
    });
    from.on('end', () => to.end());
  }
}

import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

export interface ClientOptions {
  readonly port: number;
  readonly host: string;
  /** Ends of connections where the response does not say so; a new one for each request otherwise. */
  readonly keepAlive: boolean;
  /** Posted with each request. */
  readonly body: string;
  readonly tls: boolean;
}

const TIMEOUT_MS = 10_000;
const LENGTH = /\r\ncontent-length: *(\d+)/i;
const CLOSES = /\r\nconnection: *close/i;

/** Sends one request after the other, as cheaply as this can be done: hundreds of them share a process with their origins. */
export class LoadClient {
  readonly #options: ClientOptions;
  readonly #bytes: string;
  #socket: Socket | undefined;

  constructor(options: ClientOptions) {
    this.#options = options;
    const { host, keepAlive, body } = options;
    const head = body === '' ? 'GET / HTTP/1.1' : `POST / HTTP/1.1\r\ncontent-length: ${body.length}`;
    this.#bytes = `${head}\r\nhost: ${host}\r\n${keepAlive ? '' : 'connection: close\r\n'}\r\n${body}`;
  }

  /** Undefined when all went well; never throws. */
  request(): Promise<string | undefined> {
    return new Promise((resolve) => {
      const reused = this.#socket !== undefined;
      const socket = this.#socket ?? this.#connect();
      this.#socket = undefined;
      let text = '';
      const settle = (failure: string | undefined, keep = false): void => {
        clearTimeout(timer);
        socket.removeAllListeners();
        // Whatever becomes of it, nobody asks any more.
        socket.on('error', () => {});
        if (keep) this.#socket = socket;
        else socket.destroy();
        resolve(failure);
      };
      const fail = (why: string): void =>
        settle(
          `${why} ${reused ? 'on a used connection' : 'on a new connection'} after ${text.length} bytes`,
        );
      const timer = setTimeout(() => fail('no response within 10 s'), TIMEOUT_MS);
      socket.on('data', (chunk: Buffer) => {
        text += chunk.toString('latin1');
        const end = text.indexOf('\r\n\r\n');
        if (end === -1) return;
        const head = text.slice(0, end);
        if (text.length < end + 4 + Number(LENGTH.exec(head)?.[1] ?? 0)) return;
        const status = head.slice(9, 12);
        settle(
          status === '200' ? undefined : `status ${status}`,
          this.#options.keepAlive && !CLOSES.test(head),
        );
      });
      socket.on('error', (error) => fail(error.message));
      socket.on('close', () => fail('closed'));
      socket.write(this.#bytes);
    });
  }

  close(): void {
    this.#socket?.destroy();
    this.#socket = undefined;
  }

  #connect(): Socket {
    const { port, host, tls } = this.#options;
    const to = { port, host: '127.0.0.1' };
    const socket = tls ? connectTls({ ...to, servername: host, rejectUnauthorized: false }) : connect(to);
    socket.setNoDelay(true);
    return socket;
  }
}

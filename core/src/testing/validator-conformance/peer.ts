import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

/** Of a frame's body, either way. */
export const MAX_BODY = 8 * 1024 * 1024;
const HEADER = 4;

/** How to reach the validator: the path of its socket, or a function that opens a connection to it. */
export type Target = string | (() => Promise<Socket> | Socket);

/** A frame of a body, or of a body that is announced longer than it is. */
export function frame(body: string | Buffer, announced = Buffer.byteLength(body)): Buffer {
  const header = Buffer.alloc(HEADER);
  header.writeUInt32BE(announced);
  return Buffer.concat([header, Buffer.from(body)]);
}

/** The controller's end of one connection, with words for whatever the validator does wrong. */
export class Peer implements Disposable {
  readonly #socket: Socket;
  readonly #timeoutMs: number;
  #received: Buffer = Buffer.alloc(0);
  #ended = false;
  #news = Promise.withResolvers<void>();

  private constructor(socket: Socket, timeoutMs: number) {
    this.#socket = socket;
    this.#timeoutMs = timeoutMs;
    const tell = (): void => {
      this.#news.resolve();
      this.#news = Promise.withResolvers();
    };
    socket.on('data', (piece: Buffer) => {
      this.#received = Buffer.concat([this.#received, piece]);
      tell();
    });
    socket.on('error', () => undefined); // "close" follows
    for (const event of ['end', 'close']) {
      socket.on(event, () => {
        this.#ended = true;
        tell();
      });
    }
  }

  /** @throws Error when nobody accepts in time. */
  static async connect(target: Target, timeoutMs: number): Promise<Peer> {
    const socket = typeof target === 'string' ? connect({ path: target }) : await target();
    try {
      if (socket.connecting) await once(socket, 'connect', { signal: AbortSignal.timeout(timeoutMs) });
    } catch (error) {
      socket.destroy();
      const where = typeof target === 'string' ? ` on ${target}` : '';
      throw new Error(`no connection was accepted${where} within ${timeoutMs} ms`, { cause: error });
    }
    return new Peer(socket, timeoutMs);
  }

  /** Hands the bytes to the kernel; whoever does not read them is found out by not answering. */
  send(bytes: Buffer): void {
    this.#socket.write(bytes);
  }

  /** The next whole frame's body. @throws Error when none comes in time. */
  async frame(): Promise<Buffer> {
    const end = performance.now() + this.#timeoutMs;
    for (;;) {
      const body = this.#takeFrame();
      if (body !== undefined) return body;
      if (this.#ended) throw new Error(`the connection was closed ${this.#howFar('an answer')}`);
      if (!(await this.#newsBefore(end))) {
        const unread = this.#socket.writableLength > 0 ? ', and the request was not read' : '';
        throw new Error(`there was no answer within ${this.#timeoutMs} ms ${this.#howFar('it')}${unread}`);
      }
    }
  }

  /** Waits for the validator to close. @throws Error when it does not in time, or sends something first. */
  async closed(): Promise<void> {
    const end = performance.now() + this.#timeoutMs;
    while (!this.#ended) {
      if (!(await this.#newsBefore(end)))
        throw new Error(`the connection was not closed within ${this.#timeoutMs} ms`);
    }
    this.#refuseMore();
  }

  /** @throws Error when the validator sends more, or closes, in this time. */
  async staysQuiet(ms: number): Promise<void> {
    await this.#newsBefore(performance.now() + ms);
    this.#refuseMore();
    if (this.#ended)
      throw new Error('the connection was closed behind the answer, it is to be kept for more requests');
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
  }

  #takeFrame(): Buffer | undefined {
    if (this.#received.length < HEADER) return undefined;
    const length = this.#received.readUInt32BE();
    if (length > MAX_BODY)
      throw new Error(`an answer of ${length} bytes was announced, at most 8 MiB are allowed`);
    if (this.#received.length < HEADER + length) return undefined;
    const body = this.#received.subarray(HEADER, HEADER + length);
    this.#received = this.#received.subarray(HEADER + length);
    return body;
  }

  #refuseMore(): void {
    const { length } = this.#received;
    if (length > 0) throw new Error(`${length} bytes came behind the answer: a request has exactly one`);
  }

  #howFar(what: string): string {
    const { length } = this.#received;
    if (length === 0) return `before any of ${what} came`;
    const announced = length < HEADER ? 'its length' : `${this.#received.readUInt32BE()} bytes`;
    return `after ${Math.max(0, length - HEADER)} bytes of ${what}, ${announced} announced`;
  }

  async #newsBefore(end: number): Promise<boolean> {
    const done = new AbortController();
    const late = wait(Math.max(0, end - performance.now()), false, { signal: done.signal }).catch(
      () => false,
    );
    try {
      return await Promise.race([this.#news.promise.then(() => true), late]);
    } finally {
      done.abort();
    }
  }
}

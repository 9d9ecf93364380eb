import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { allArrived } from './all-arrived.ts';
import { FrameReader } from './frame.ts';
import type { Frame } from './request.ts';
import { decodeResponse, type Response } from './response.ts';
import { adding, ConnectionLost, Unanswered } from './unanswered.ts';

const CLOSED = 'closed the connection without an answer';
const BEFORE_ASKED = 'sent an answer before it was asked';

/** A request that was sent and is not answered yet. */
interface Pending {
  readonly reader: FrameReader;
  readonly resolve: (body: Buffer) => void;
  readonly reject: (error: Unanswered) => void;
  written: boolean;
}

/** One connection to a validator: one request at a time, each answered by one frame. What goes wrong ends it. */
export class Connection {
  readonly #socket: Socket;
  readonly #onUnasked: () => void;
  #pending: Pending | undefined;
  #wasUsed = false;
  #sentUnasked = false;

  private constructor(socket: Socket, onUnasked: () => void) {
    this.#socket = socket;
    this.#onUnasked = onUnasked;
    socket.on('data', (piece) => this.#receive(piece));
    socket.on('close', () => this.#fail(new ConnectionLost(this.#howItEnded())));
  }

  /**
   * @param onUnasked Told when the validator sends something that it was not asked for.
   * @throws Unanswered, or the signal's reason.
   */
  static async open(path: string, signal: AbortSignal, onUnasked: () => void): Promise<Connection> {
    const socket = connect({ path });
    socket.on('error', () => socket.destroy());
    try {
      await once(socket, 'connect', { signal });
    } catch (error) {
      socket.destroy();
      signal.throwIfAborted();
      throw connectError(path, error as NodeJS.ErrnoException);
    }
    return new Connection(socket, onUnasked);
  }

  /** Whether it has carried an answer before: then the validator may close it at any time. */
  get wasUsed(): boolean {
    return this.#wasUsed;
  }

  /**
   * Sends a request and waits for its answer.
   *
   * @throws Unanswered, or the signal's reason; the connection is closed then.
   */
  async exchange(frame: Frame, signal: AbortSignal): Promise<Response> {
    const called = Promise.withResolvers<never>();
    called.promise.catch(() => undefined); // it may abort before anybody waits
    const onAbort = (): void => called.reject(adding(this.#progress(), signal.reason));
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      // What came unasked, a close included, is read first: it must not be taken for the answer.
      await allArrived();
      signal.throwIfAborted();
      if (!this.#isOpen) throw new ConnectionLost(this.#sentUnasked ? BEFORE_ASKED : CLOSED);
      const body = await Promise.race([this.#send(frame), called.promise]);
      // So is a second answer that came with the first.
      await allArrived();
      if (this.#sentUnasked) throw new Unanswered('sent more than one answer');
      const response = decodeResponse(body);
      this.#wasUsed = true;
      return response;
    } catch (error) {
      this.close();
      throw error;
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  close(): void {
    this.#socket.destroy();
  }

  get #isOpen(): boolean {
    return !this.#socket.destroyed && !this.#socket.readableEnded;
  }

  #send(frame: Frame): Promise<Buffer> {
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
    promise.catch(() => undefined); // nobody may be waiting any more
    const pending: Pending = { reader: new FrameReader(), resolve, reject, written: false };
    this.#pending = pending;
    this.#socket.cork();
    frame.forEach((piece, index) => {
      if (index < frame.length - 1) this.#socket.write(piece);
      else this.#socket.write(piece, (error) => (pending.written = error === undefined || error === null));
    });
    this.#socket.uncork();
    return promise;
  }

  #receive(piece: Buffer): void {
    const pending = this.#pending;
    if (pending === undefined) {
      this.#sentUnasked = true;
      this.close();
      this.#onUnasked();
      return;
    }
    try {
      const body = pending.reader.push(piece);
      if (body === undefined) return;
      if (!pending.written) throw new Unanswered('answered before it had the whole request');
      this.#pending = undefined;
      pending.resolve(body);
    } catch (error) {
      this.#fail(error as Unanswered);
    }
  }

  #fail(error: Unanswered): void {
    this.#pending?.reject(error);
    this.#pending = undefined;
    this.close();
  }

  /** How far the pending request came, to end a sentence with. */
  #progress(): string {
    if (this.#pending === undefined) return '';
    const { reader, written } = this.#pending;
    if (!written) return ', it did not read all of the request';
    return reader.progress === undefined ? '' : `, only ${reader.progress} of an answer came`;
  }

  #howItEnded(): string {
    const progress = this.#pending?.reader.progress;
    return progress === undefined ? CLOSED : `cut its answer short, ${progress} came`;
  }
}

function connectError(path: string, error: NodeJS.ErrnoException): Unanswered {
  switch (error.code) {
    case 'ENOENT':
      return new Unanswered(`there is no socket ${path}`, { cause: error });
    case 'ECONNREFUSED':
      return new Unanswered(`nothing listens on ${path}`, { cause: error });
    default:
      return new Unanswered(`can not be reached at ${path}: ${error.message}`, { cause: error });
  }
}

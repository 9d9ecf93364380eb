import { connect, type Socket } from 'node:net';
import { blocks, exchange, SocketFailure } from './exchange.ts';
import { atLeast } from './version.ts';
import { parseIdentity, WHO, type WorkerIdentity } from './worker-socket.ts';

/** What HAProxy answered to a line: a block for each command, fewer where it ended the conversation. */
export interface Answer {
  readonly blocks: readonly string[];
  /** As it came. */
  readonly text: string;
}

const TIMEOUT_MS = 30_000;
/** Lists of certificates are long. */
const LONGEST_REPLY = 64 * 1024 * 1024;

/** Says a line on a connection of its own. */
export async function askAnew(path: string, line: string, signal?: AbortSignal): Promise<Answer> {
  const text = await exchange(path, line, { timeoutMs: TIMEOUT_MS, maxBytes: LONGEST_REPLY, signal });
  return { blocks: blocks(text), text };
}

/** Whether this HAProxy keeps a conversation going without a prompt between the answers. */
export function convers(version: string): boolean {
  return atLeast(version, 3, 2);
}

/**
 * One connection for all that an apply has to say: all of it goes to the worker that said at first who it is. It lives as long as
 * the apply and no longer, since one that outlives a reload stays with the old worker.
 */
export class WorkerConnection {
  readonly identity: WorkerIdentity;
  readonly #stream: Stream;

  private constructor(identity: WorkerIdentity, stream: Stream) {
    this.identity = identity;
    this.#stream = stream;
  }

  /** @throws SocketFailure when no worker answers. */
  static async open(path: string, signal?: AbortSignal): Promise<WorkerConnection> {
    const stream = new Stream(path, signal);
    try {
      const { blocks: found } = await stream.ask(`prompt i; ${WHO.line}`, WHO.commands + 1);
      return new WorkerConnection(parseIdentity(path, found.slice(1)), stream);
    } catch (error) {
      stream.end();
      throw error;
    }
  }

  /** @throws SocketFailure when it is not known what HAProxy did. */
  ask(line: string, commands: number): Promise<Answer> {
    return this.#stream.ask(line, commands);
  }

  end(): void {
    this.#stream.end();
  }
}

interface Waiting {
  readonly commands: number;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: Error) => void;
}

/** Lines to HAProxy and its answers, one after the other. */
class Stream {
  readonly #path: string;
  readonly #socket: Socket;
  readonly #signal: AbortSignal | undefined;
  readonly #abort = (): void => this.#fail('called off');
  #timer: NodeJS.Timeout | undefined;
  #waiting: Waiting | undefined;
  #text = '';
  #failure: SocketFailure | undefined;

  constructor(path: string, signal: AbortSignal | undefined) {
    this.#path = path;
    this.#signal = signal;
    this.#socket = connect({ path });
    this.#socket.setEncoding('utf8');
    this.#socket.on('error', (error) => this.#fail(error.message));
    this.#socket.on('data', (text: string) => this.#take(text));
    this.#socket.on('end', () => this.#ended());
    signal?.addEventListener('abort', this.#abort, { once: true });
    if (signal?.aborted === true) this.#fail('called off');
  }

  ask(line: string, commands: number): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (this.#failure !== undefined) return reject(this.#failure);
      this.#text = '';
      this.#waiting = { commands, resolve, reject };
      this.#timer = setTimeout(() => this.#fail(`no answer within ${TIMEOUT_MS} ms`), TIMEOUT_MS);
      this.#socket.write(`${line}\n`);
    });
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#signal?.removeEventListener('abort', this.#abort);
    this.#socket.destroy();
  }

  #take(text: string): void {
    this.#text += text;
    if (this.#text.length > LONGEST_REPLY) return this.#fail(`answer of more than ${LONGEST_REPLY} bytes`);
    // A block ends with an empty line, so an answer that is whole ends with one.
    if (this.#waiting === undefined || !(this.#text === '\n' || this.#text.endsWith('\n\n'))) return;
    const found = blocks(this.#text);
    if (found.length >= this.#waiting.commands) this.#settle({ blocks: found, text: this.#text });
  }

  /** HAProxy ends the conversation after a line that it cannot take. */
  #ended(): void {
    if (this.#waiting !== undefined) this.#settle({ blocks: blocks(this.#text), text: this.#text });
    this.#fail('HAProxy ended the conversation');
  }

  #settle(answer: Answer): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    clearTimeout(this.#timer);
    waiting?.resolve(answer);
  }

  #fail(message: string): void {
    this.#failure ??= new SocketFailure(`${this.#path}: ${message}`);
    const waiting = this.#waiting;
    this.#waiting = undefined;
    this.end();
    waiting?.reject(this.#failure);
  }
}

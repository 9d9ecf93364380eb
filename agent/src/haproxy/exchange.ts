import { connect } from 'node:net';

/** No answer could be had from a socket: whether the command was carried out is not known. */
export class SocketFailure extends Error {
  override readonly name = 'SocketFailure';
}

export interface ExchangeOptions {
  readonly timeoutMs: number;
  /** Reply bytes; more is a failure. */
  readonly maxBytes?: number;
  readonly signal?: AbortSignal | undefined;
  /** Whether the answer is whole although HAProxy leaves the connection open. */
  readonly isWhole?: (answer: string) => boolean;
}

/**
 * Sends one line on a fresh connection and reads until HAProxy closes. Fresh each time: a connection that outlives a reload
 * stays with the old worker, where writes succeed and are lost. The line must end the conversation by itself (worker socket),
 * by `reload`, or by `quit` (master socket): a half-closed connection would interrupt a `wait`.
 */
export function exchange(path: string, line: string, options: ExchangeOptions): Promise<string> {
  const maxBytes = options.maxBytes ?? 1024 * 1024;
  return new Promise((resolve, reject) => {
    const socket = connect({ path });
    const chunks: Buffer[] = [];
    let size = 0;
    const timer = setTimeout(
      () => fail(`no answer within ${Math.round(options.timeoutMs)} ms`),
      options.timeoutMs,
    );
    const abort = (): void => fail('called off');
    options.signal?.addEventListener('abort', abort, { once: true });

    function settle(): void {
      clearTimeout(timer);
      options.signal?.removeEventListener('abort', abort);
      socket.destroy();
    }
    function fail(message: string): void {
      settle();
      reject(new SocketFailure(`${path}: ${message}`));
    }

    if (options.signal?.aborted === true) {
      abort();
      return;
    }
    socket.on('error', (error) => fail(error.message));
    function succeed(): void {
      settle();
      resolve(Buffer.concat(chunks).toString());
    }
    socket.on('data', (chunk: Buffer) => {
      size += chunk.byteLength;
      if (size > maxBytes) return fail(`answer of more than ${maxBytes} bytes`);
      chunks.push(chunk);
      if (options.isWhole?.(Buffer.concat(chunks).toString()) === true) succeed();
    });
    socket.on('end', succeed);
    socket.write(`${line}\n`);
  });
}

/** The blocks of an answer, one a command; each ends with an empty line, and that of a silent success is nothing but that. */
export function blocks(answer: string): string[] {
  const found: string[] = [];
  let lines: string[] = [];
  // What stands behind the last end of a line is no line.
  for (const line of answer.split('\n').slice(0, -1)) {
    if (line !== '') lines.push(line);
    else {
      found.push(lines.join('\n'));
      lines = [];
    }
  }
  return found;
}

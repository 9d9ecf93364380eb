import type { Socket } from 'node:net';

export interface JudgedFile {
  readonly path: string;
  readonly content: string;
  readonly kind?: 'data';
}

export interface Diagnostic {
  readonly path: string;
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

export interface Verdict {
  readonly errors: readonly Diagnostic[];
  readonly warnings: readonly Diagnostic[];
}

export type Judge = (files: readonly JudgedFile[]) => Verdict;

const VERSION = 1;
const HEADER_BYTES = 4;
const MAX_BODY_BYTES = 8 * 1024 * 1024;

/** The controller closes idle connections after 30 s. */
const IDLE_MS = 60_000;

/** Answers every request that arrives on a connection, until one side closes it. */
export function serve(socket: Socket, judge: Judge, { requestMs }: { readonly requestMs: number }): void {
  let pieces: Buffer[] = [];
  let received = 0;
  let needed = HEADER_BYTES;

  const giveUp = (message: string): void => {
    socket.removeListener('data', receive);
    socket.resume(); // what still comes is thrown away, so that the answer is not lost with it
    socket.end(frameOf(protocolError(message)));
  };
  const receive = (piece: Buffer): void => {
    pieces.push(piece);
    received += piece.length;
    while (received >= needed) {
      const bytes = Buffer.concat(pieces);
      const length = bytes.readUInt32BE();
      if (length > MAX_BODY_BYTES)
        return giveUp(`a frame may have at most ${MAX_BODY_BYTES} bytes, not ${length}`);
      const end = HEADER_BYTES + length;
      needed = end;
      if (received < end) {
        pieces = [bytes];
        break;
      }
      socket.write(frameOf(answerTo(bytes.subarray(HEADER_BYTES, end), judge)));
      pieces = [bytes.subarray(end)];
      received -= end;
      needed = HEADER_BYTES;
    }
    socket.setTimeout(received > 0 ? requestMs : IDLE_MS);
  };

  socket.setTimeout(IDLE_MS);
  socket.on('data', receive);
  socket.on('timeout', () => {
    if (received > 0 && socket.writable) giveUp(`the request did not arrive within ${requestMs} ms`);
    else socket.destroy();
  });
  socket.on('error', () => socket.destroy());
}

function frameOf(body: string): Buffer {
  const bytes = Buffer.from(body);
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt32BE(bytes.length);
  return Buffer.concat([header, bytes]);
}

function answerTo(body: Buffer, judge: Judge): string {
  let request: unknown;
  try {
    request = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body));
  } catch (error) {
    return protocolError(`the body is not JSON in UTF-8: ${(error as Error).message}`);
  }
  if (!isObject(request)) return protocolError('the body is not an object');
  const { protocol_version: version, files } = request;
  if (version !== VERSION) {
    return protocolError(`protocol version ${String(version)} is not supported, the highest is ${VERSION}`);
  }
  if (!Array.isArray(files) || files.length === 0) return protocolError('"files" is missing or empty');
  if (!files.every(isFile)) return protocolError('each of "files" needs "path" and "content"');
  return answer(judge(files));
}

/** `result` must equal what the lists say. */
function answer({ errors, warnings }: Verdict): string {
  const result = errors.length > 0 ? 'error' : warnings.length > 0 ? 'warning' : 'valid';
  return JSON.stringify({ protocol_version: VERSION, result, warnings, errors });
}

/** About the request and not about a file, so its path is empty; 0 means unknown. */
function protocolError(message: string): string {
  return answer({ errors: [{ path: '', line: 0, column: 0, message }], warnings: [] });
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Fields that are not known are ignored. */
function isFile(value: unknown): value is JudgedFile {
  return isObject(value) && typeof value['path'] === 'string' && typeof value['content'] === 'string';
}

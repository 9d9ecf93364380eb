import { connect } from 'node:net';

export interface RawResponse {
  /** Everything that the server sent, byte for byte. */
  readonly raw: Buffer;
  /** 0 when the server sent no status line. */
  readonly status: number;
  /** As sent, in order. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** The first header of that name, whatever its case. */
  readonly header: (name: string) => string | undefined;
  /** Chunks joined. */
  readonly body: Buffer;
}

/**
 * Sends these bytes, whatever they are, to the loopback port and reads one response: to its announced end, or until the
 * server closes. Latin-1, so that every byte can be written in a string.
 * @throws Error when the connection fails or nothing more comes within the time-out.
 */
export function rawRequest(
  port: number,
  bytes: string | Uint8Array,
  { timeoutMs = 5000 }: { readonly timeoutMs?: number } = {},
): Promise<RawResponse> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1' });
    const chunks: Buffer[] = [];
    const settle = (): void => {
      socket.destroy();
      resolve(parseResponse(Buffer.concat(chunks)));
    };
    const fail = (error: Error): void => {
      socket.destroy();
      // A reset after a whole answer (to a request that was refused half-read) is an answer.
      if (chunks.length > 0 && parseResponse(Buffer.concat(chunks)).status !== 0) settle();
      else reject(error);
    };
    socket.setTimeout(timeoutMs, () =>
      fail(new Error(`no more bytes from port ${port} for ${timeoutMs} ms`)),
    );
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      if (isWhole(Buffer.concat(chunks))) settle();
    });
    socket.on('end', settle).on('error', fail);
    socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
  });
}

export interface SimpleRequest {
  readonly method?: string;
  readonly path?: string;
  readonly host?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A well-formed request, each on a connection of its own. */
export function request(port: number, simple: SimpleRequest = {}): Promise<RawResponse> {
  const { method = 'GET', path = '/', host = 'localhost', headers = {}, body } = simple;
  const length = body === undefined ? [] : [`content-length: ${Buffer.byteLength(body)}`];
  const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const head = [`${method} ${path} HTTP/1.1`, `host: ${host}`, 'connection: close', ...length, ...fields];
  return rawRequest(port, Buffer.from(`${head.join('\r\n')}\r\n\r\n${body ?? ''}`));
}

function parseResponse(raw: Buffer): RawResponse {
  const end = raw.indexOf('\r\n\r\n');
  const lines = raw.toString('latin1', 0, end === -1 ? raw.length : end).split('\r\n');
  const headers = lines.slice(1).map((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon), line.slice(colon + 1).trim()] as const;
  });
  const header = (name: string): string | undefined =>
    headers.find(([candidate]) => candidate.toLowerCase() === name.toLowerCase())?.[1];
  const rest = end === -1 ? Buffer.alloc(0) : raw.subarray(end + 4);
  const chunked = header('transfer-encoding')?.toLowerCase() === 'chunked';
  return {
    raw,
    status: Number(/^HTTP\/\d\.\d (\d{3})/.exec(lines[0] ?? '')?.[1] ?? 0),
    headers,
    header,
    body: chunked ? (joinChunks(rest) ?? rest) : rest,
  };
}

function isWhole(raw: Buffer): boolean {
  if (!raw.includes('\r\n\r\n')) return false;
  const { status, header } = parseResponse(raw);
  if (status === 204 || status === 304) return true;
  const rest = raw.subarray(raw.indexOf('\r\n\r\n') + 4);
  if (header('transfer-encoding')?.toLowerCase() === 'chunked') return joinChunks(rest) !== undefined;
  const length = header('content-length');
  return length !== undefined && rest.length >= Number(length);
}

/** Undefined while the last chunk is missing. */
function joinChunks(bytes: Buffer): Buffer | undefined {
  const parts: Buffer[] = [];
  for (let offset = 0; ;) {
    const lineEnd = bytes.indexOf('\r\n', offset);
    if (lineEnd === -1) return undefined;
    const size = Number.parseInt(bytes.toString('latin1', offset, lineEnd), 16);
    if (size === 0) return Buffer.concat(parts);
    offset = lineEnd + 2 + size + 2;
    if (offset > bytes.length) return undefined;
    parts.push(bytes.subarray(lineEnd + 2, offset - 2));
  }
}

import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onCleanup } from './cleanup.ts';
import type { RawResponse } from './raw-request.ts';

/** What an origin server saw; it answers with this as JSON. */
export interface Seen {
  readonly origin: string;
  readonly method: string;
  readonly path: string;
  /** As received, in order. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
}

export interface Origin {
  readonly name: string;
  readonly port: number;
  /** Requests so far. */
  readonly seen: readonly Seen[];
  /** Called by itself at the end of the test. */
  stop(): Promise<void>;
}

export interface OriginOptions {
  /** A free one by default. */
  readonly port?: number;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Waited for before each answer: a slow origin, or one that a test holds back. */
  readonly before?: (seen: Seen) => Promise<void>;
}

/** A tiny server on the loopback address that answers every request with what it saw. */
export async function origin(name: string, options: OriginOptions = {}): Promise<Origin> {
  const seen: Seen[] = [];
  const server = createServer((incoming, response) => {
    void (async () => {
      const entry = await read(name, incoming);
      seen.push(entry);
      await options.before?.(entry);
      response.writeHead(options.status ?? 200, { 'content-type': 'application/json', ...options.headers });
      response.end(JSON.stringify(entry));
    })().catch((error: unknown) => response.destroy(error as Error));
  });
  server.listen(options.port ?? 0, '127.0.0.1');
  await once(server, 'listening');
  const stop = async (): Promise<void> => {
    const closed = new Promise((resolve) => void server.close(resolve));
    server.closeAllConnections();
    await closed;
  };
  onCleanup(stop);
  return { name, port: (server.address() as AddressInfo).port, seen, stop };
}

/** What the origin behind a proxied response saw. @throws Error when the body is not an origin's. */
export function seenBy(response: RawResponse): Seen {
  try {
    return JSON.parse(response.body.toString()) as Seen;
  } catch (error) {
    throw new Error(`not an origin's answer: ${response.raw.toString()}`, { cause: error });
  }
}

async function read(name: string, incoming: IncomingMessage): Promise<Seen> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const { rawHeaders, method = '', url = '' } = incoming;
  const headers = rawHeaders.flatMap((field, index) =>
    index % 2 === 0 ? [[field, rawHeaders[index + 1] ?? ''] as const] : [],
  );
  return { origin: name, method, path: url, headers, body: Buffer.concat(chunks).toString() };
}

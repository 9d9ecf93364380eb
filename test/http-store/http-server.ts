import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onCleanup } from '../haproxy/cleanup.ts';

export type Answer = (request: IncomingMessage, response: ServerResponse) => void;

export interface HttpServer {
  readonly origin: string;
  readonly port: number;
  readonly requests: IncomingMessage[];
  /** What the next requests are answered with. */
  answer: Answer;
  close(): Promise<void>;
}

/** A server on a loopback port, closed at the end of the test. */
export async function httpServer(answer: Answer, port = 0): Promise<HttpServer> {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    // Who asks may go away in the middle.
    response.on('error', () => {});
    served.answer(request, response);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  onCleanup(close);
  const { port: bound } = server.address() as AddressInfo;
  const served: HttpServer = {
    origin: `http://127.0.0.1:${bound}`,
    port: bound,
    requests,
    answer,
    close,
  };
  return served;
}

/** The text with an ETag of its own; 304 to who has it. */
export function tagged(text: string): Answer {
  return (request, response) => {
    const etag = `"${Buffer.from(text).toString('hex')}"`;
    if (request.headers['if-none-match'] === etag) response.writeHead(304, { etag }).end();
    else response.writeHead(200, { etag, 'content-length': Buffer.byteLength(text) }).end(text);
  };
}

export function plain(body: string | Buffer, headers: Record<string, string> = {}, status = 200): Answer {
  return (_request, response) => {
    response.writeHead(status, { 'content-length': Buffer.byteLength(body), ...headers }).end(body);
  };
}

export function redirect(to: string, status = 302): Answer {
  return plain('', { location: to }, status);
}

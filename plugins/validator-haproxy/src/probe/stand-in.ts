import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { StandIn } from '@haptic/core/contract';
import { LOOPBACK } from './held-ports.ts';

/** HAProxy decides what is a request, and templates what becomes of it. */
const LENIENT = { requireHostHeader: false, insecureHTTPParser: true, maxHeaderSize: 1024 * 1024 };

/** Answers every request in the place of every server. */
export class StandInServer {
  #started: Promise<Server> | undefined;

  /** Starts with the first call. */
  async address(): Promise<StandIn> {
    const server = await (this.#started ??= start());
    const { address, port } = server.address() as AddressInfo;
    return { address, port };
  }

  async close(): Promise<void> {
    const server = await this.#started?.catch(() => undefined);
    if (server === undefined) return;
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  }
}

async function start(): Promise<Server> {
  const server = createServer(LENIENT, (request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': 'text/plain' }).end('stand-in\n');
  });
  server.listen({ host: LOOPBACK, port: 0 });
  await once(server, 'listening');
  // Nothing must wait for it: whoever uses it waits for HAProxy.
  server.unref();
  return server;
}

import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';

export interface FastOrigin {
  readonly port: number;
  /** At once, whatever is under way. */
  close(): void;
}

const LENGTH = /\r\ncontent-length: *(\d+)/i;
const ANSWER = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';

/** An origin that answers every request after some milliseconds and knows nothing else of HTTP. */
export async function fastOrigin(delayMs: number): Promise<FastOrigin> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    let text = '';
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
      for (let size = sizeOf(text); size !== undefined; size = sizeOf(text)) {
        text = text.slice(size);
        setTimeout(() => socket.write(ANSWER), delayMs);
      }
    });
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Of the first request, when all of it is there. */
function sizeOf(text: string): number | undefined {
  const end = text.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const size = end + 4 + Number(LENGTH.exec(text.slice(0, end))?.[1] ?? 0);
  return text.length < size ? undefined : size;
}

import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';

export interface FastOrigin {
  readonly port: number;
  /** Answers what is under way and takes nothing more, as a pod does that ends. */
  close(): void;
}

const LENGTH = /\r\ncontent-length: *(\d+)/i;
const ANSWER = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';

/** An origin that answers every request after some milliseconds and knows nothing else of HTTP. */
export async function fastOrigin(delayMs: number): Promise<FastOrigin> {
  /** With the number of requests that each has under way. */
  const sockets = new Map<Socket, number>();
  let isClosing = false;
  const turn = (socket: Socket, by: number): void => {
    const busy = (sockets.get(socket) ?? 0) + by;
    if (sockets.has(socket)) sockets.set(socket, busy);
    if (isClosing && busy === 0) socket.end();
  };
  const server = createServer((socket) => {
    sockets.set(socket, 0);
    let text = '';
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
      for (let size = sizeOf(text); size !== undefined; size = sizeOf(text)) {
        text = text.slice(size);
        turn(socket, 1);
        setTimeout(() => {
          socket.write(ANSWER);
          turn(socket, -1);
        }, delayMs);
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
      isClosing = true;
      server.close();
      for (const socket of sockets.keys()) turn(socket, 0);
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

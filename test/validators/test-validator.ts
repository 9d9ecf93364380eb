import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { onCleanup } from '../haproxy/cleanup.ts';
import { tempDir } from '../haproxy/temp-dir.ts';

export interface Request {
  readonly protocol_version: number;
  readonly files: readonly { readonly path: string; readonly content: string; readonly kind?: string }[];
  readonly staged_root?: string;
}

/** What a validator does, wrong or right. */
export interface Behaviour {
  /** Instead of reading requests. */
  readonly connected?: (socket: Socket) => void;
  /** To a whole request; `nth` of its connection, from 1. */
  readonly asked?: (socket: Socket, request: Request, nth: number) => void;
}

export interface TestValidator {
  readonly socketPath: string;
  /** In order of arrival. */
  readonly requests: readonly Request[];
  /** All that were ever accepted. */
  readonly connections: readonly Socket[];
  readonly open: number;
  /** Stops listening and breaks every connection. */
  stop(): Promise<void>;
}

export function frame(body: string | object, announced?: number): Buffer {
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  const header = Buffer.alloc(4);
  header.writeUInt32BE(announced ?? bytes.length);
  return Buffer.concat([header, bytes]);
}

export const valid = { protocol_version: 1, result: 'valid', warnings: [], errors: [] };

/** An answer with these diagnostics, its result as they say. */
export function answer(errors: readonly object[], warnings: readonly object[] = []): object {
  const result = errors.length > 0 ? 'error' : warnings.length > 0 ? 'warning' : 'valid';
  return { ...valid, result, errors, warnings };
}

/** The path of a socket that is not there, in a folder of its own. */
export async function socketPath(): Promise<string> {
  return join(await tempDir(), 'v.sock');
}

/** A validator in this process, stopped at the end of the test. Without a behaviour it finds everything valid. */
export async function startValidator(
  { connected, asked = (socket) => socket.write(frame(valid)) }: Behaviour = {},
  at?: string,
): Promise<TestValidator> {
  const path = at ?? (await socketPath());
  const connections: Socket[] = [];
  const requests: Request[] = [];
  const read = (socket: Socket): void => {
    let received = Buffer.alloc(0);
    let nth = 0;
    socket.on('data', (piece: Buffer) => {
      received = Buffer.concat([received, piece]);
      for (let end = endOf(received); received.length >= end; end = endOf(received)) {
        const request = JSON.parse(received.subarray(4, end).toString()) as Request;
        received = received.subarray(end);
        requests.push(request);
        asked(socket, request, ++nth);
      }
    });
  };
  const server = createServer((socket) => {
    connections.push(socket);
    socket.on('error', () => socket.destroy());
    (connected ?? read)(socket);
  });
  server.listen(path);
  await once(server, 'listening');
  const stop = async (): Promise<void> => {
    const closed = new Promise((resolve) => void server.close(resolve));
    for (const socket of connections) socket.destroy();
    await closed;
  };
  onCleanup(stop);
  return {
    socketPath: path,
    requests,
    connections,
    get open() {
      return connections.filter(({ closed }) => !closed).length;
    },
    stop,
  };
}

function endOf(received: Buffer): number {
  return received.length < 4 ? Infinity : 4 + received.readUInt32BE();
}

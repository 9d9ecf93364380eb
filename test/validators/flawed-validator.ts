import type { Socket } from 'node:net';
import { answer, frame, startValidator } from './test-validator.ts';

const MAX = 8 * 1024 * 1024;
interface Asked {
  readonly protocol_version?: unknown;
  readonly files?: readonly { readonly path: string; readonly content: string; readonly kind?: string }[];
}

function protocolError(message: string): object {
  return answer([{ path: '', line: 0, column: 0, message }]);
}

/** A validator in parts: right as they stand, with one flaw when one is replaced. */
export const parts = {
  maxBytes: MAX,
  /** How long a request may stop halfway. */
  stallMs: 100,
  /** What is said before a connection is closed that announces too much. */
  tooLarge: (socket: Socket): void => void socket.end(frame(protocolError('too large'))),
  stalled: (socket: Socket): void => void socket.end(frame(protocolError('timed out'))),
  /** Whether a connection is served, and not left alone. */
  accepts: (_open: number): boolean => true,
  /** The end of the first request in what has come, Infinity: more is to come. */
  end: (received: Buffer): number => (received.length < 4 ? Infinity : 4 + received.readUInt32BE()),
  decode: (body: Buffer): Asked =>
    JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body)) as Asked,
  garbled: (socket: Socket): void => void socket.write(frame(protocolError('not JSON'))),
  version: (_version: unknown): object => protocolError('not supported, the highest is 1'),
  noFiles: (): object => protocolError('no files'),
  /** Of requests in order, from 1 for the whole validator. */
  judge: (_request: Asked, _nth: number): object => answer([]),
  reply: (socket: Socket, said: object): void => void socket.write(frame(said)),
  /** A client went while something of a request had come, or an answer was to go. */
  left: (_stop: () => void, _where: 'request' | 'answer'): void => undefined,
};

export type Parts = typeof parts;

/** The path of its socket. */
export async function flawedValidator(flaw: Partial<Parts>): Promise<string> {
  const own = { ...parts, ...flaw };
  let nth = 0;
  const answerTo = (request: Asked): object => {
    if (request.protocol_version !== 1) return own.version(request.protocol_version);
    if (request.files === undefined || request.files.length === 0) return own.noFiles();
    return own.judge(request, ++nth);
  };
  const serve = (socket: Socket): void => {
    let received: Buffer = Buffer.alloc(0);
    socket.setTimeout(own.stallMs, () => {
      if (received.length > 0) own.stalled(socket);
    });
    const take = (piece: Buffer): void => {
      received = Buffer.concat([received, piece]);
      if (received.length >= 4 && received.readUInt32BE() > own.maxBytes) {
        socket.removeListener('data', take).resume();
        own.tooLarge(socket);
        return;
      }
      for (let end = own.end(received); received.length >= end; end = own.end(received)) {
        const body = received.subarray(4, end);
        received = received.subarray(end);
        let request: Asked;
        try {
          request = own.decode(body);
        } catch {
          own.garbled(socket);
          continue;
        }
        own.reply(socket, answerTo(request));
      }
    };
    socket.on('data', take);
    socket.on('close', (hadError) => {
      if (received.length > 0) own.left(() => void validator.stop(), 'request');
      else if (hadError) own.left(() => void validator.stop(), 'answer');
    });
  };
  const validator = await startValidator({
    connected: (socket) => {
      if (own.accepts(validator.open)) serve(socket);
    },
  });
  return validator.socketPath;
}

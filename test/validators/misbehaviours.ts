import type { Behaviour } from './test-validator.ts';
import { answer, frame, valid } from './test-validator.ts';

export interface Misbehaviour extends Behaviour {
  /** What the plugin says of it. */
  readonly plugin: RegExp;
  /** What the first check of the conformance kit says of it. */
  readonly kit: RegExp;
}

const place = { path: 'maps/hosts.map', line: 1, column: 1, message: 'no' };
const MAX = 8 * 1024 * 1024;

/** Validators that are wrong in one way each. None of their answers may be taken for a verdict. */
export const misbehaviours: Readonly<Record<string, Misbehaviour>> = {
  late: {
    asked: (socket) => void setTimeout(() => socket.write(frame(valid)), 1_200),
    plugin: /did not answer within 0\.4 s/,
    kit: /no answer within 400 ms before any of it came/,
  },
  'late with its second half': {
    asked: (socket) => {
      socket.write(frame(valid).subarray(0, 20));
      setTimeout(() => socket.write(frame(valid).subarray(20)), 1_200);
    },
    plugin: /did not answer within 0\.4 s, only 16 of \d+ bytes of an answer came/,
    kit: /no answer within 400 ms after 16 bytes of it/,
  },
  trickling: {
    asked: (socket) => {
      let sent = 0;
      const trickle = setInterval(() => socket.write(frame(valid).subarray(sent, ++sent)), 40);
      socket.once('close', () => clearInterval(trickle));
    },
    plugin: /did not answer within 0\.4 s/,
    kit: /no answer within 400 ms/,
  },
  cut: {
    asked: (socket) => socket.end(frame(valid).subarray(0, 20)),
    plugin: /cut its answer short, 16 of \d+ bytes came/,
    kit: /closed after 16 bytes of an answer, \d+ bytes announced/,
  },
  'cut in its length': {
    asked: (socket) => socket.end(Buffer.from([0, 0])),
    plugin: /cut its answer short, 2 bytes came/,
    kit: /closed after 0 bytes of an answer, its length announced/,
  },
  oversized: {
    asked: (socket) => socket.write(frame('{}', MAX + 1)),
    plugin: /announced an answer of 8388609 bytes/,
    kit: /answer of 8388609 bytes was announced/,
  },
  'of another version': {
    asked: (socket) => socket.write(frame({ ...valid, protocol_version: 2 })),
    plugin: /answered in version 2 of the protocol/,
    kit: /not an answer of protocol version 1[\s\S]*protocol_version/,
  },
  'of a result that hides its errors': {
    asked: (socket) => socket.write(frame({ ...valid, errors: [place] })),
    plugin: /answered "valid" with diagnostics that say "error"/,
    kit: /the result is "valid", .* it must be "error"/,
  },
  'of a result without its errors': {
    asked: (socket) => socket.write(frame({ ...valid, result: 'error' })),
    plugin: /answered "error" with diagnostics that say "valid"/,
    kit: /the result is "error", .* it must be "valid"/,
  },
  'giving two answers': {
    asked: (socket) => socket.write(Buffer.concat([frame(valid), frame(answer([place]))])),
    plugin: /sent more than one answer/,
    kit: /bytes came behind the answer/,
  },
  'closing at once': {
    connected: (socket) => socket.destroy(),
    plugin: /closed the connection without an answer/,
    kit: /closed before any of an answer came/,
  },
  'closing when it is asked': {
    asked: (socket) => socket.destroy(),
    plugin: /closed the connection without an answer/,
    kit: /closed before any of an answer came/,
  },
  'speaking another protocol': {
    asked: (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'),
    plugin: /announced an answer of 1213486160 bytes/,
    kit: /answer of 1213486160 bytes was announced/,
  },
  'sending garbage in a frame': {
    asked: (socket) => socket.write(frame('{"protocol_version":1,')),
    plugin: /not JSON in UTF-8/,
    kit: /not JSON in UTF-8/,
  },
  'sending JSON that is no answer': {
    asked: (socket) => socket.write(frame({ ok: true })),
    plugin: /none of the protocol's: protocol_version/,
    kit: /not an answer of protocol version 1/,
  },
  'never reading': {
    connected: (socket) => void socket.pause(),
    plugin: /did not answer within 0\.4 s/,
    kit: /no answer within 400 ms/,
  },
};

import { connect } from 'node:net';

/** Nothing that is asked here takes HAProxy longer. */
const TIMEOUT_MS = 10_000;

/** Sends one line to a stats socket and reads the answer to its end. @throws Error */
export function runtimeCommand(path: string, line: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ path });
    const chunks: Buffer[] = [];
    socket.setTimeout(TIMEOUT_MS, () => socket.destroy(new Error(`no answer to "${line}"`)));
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('end', () => resolve(Buffer.concat(chunks).toString()));
    socket.on('error', reject);
    socket.on('close', () => reject(new Error(`the connection closed on "${line}"`)));
    socket.end(`${line}\n`);
  });
}

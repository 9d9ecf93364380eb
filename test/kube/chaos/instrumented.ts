import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { pathToFileURL } from 'node:url';
import { join } from 'node:path';

const program = join(import.meta.dirname, 'instrument.ts');

/** Flags of Node.js for a program that listens there. */
export function instrumentFlags(socketPath: string): readonly string[] {
  const url = pathToFileURL(program);
  url.searchParams.set('socket', socketPath);
  return [`--import=${url.href}`];
}

/** Bytes in use when all garbage is gone. */
export async function heapOf(socketPath: string): Promise<number> {
  return Number(await ask(socketPath, '/heap'));
}

/** Sets the wall clock of the program this far off the real one, milliseconds. */
export async function stepClock(socketPath: string, ms: number): Promise<void> {
  await ask(socketPath, `/step?ms=${ms}`);
}

async function ask(socketPath: string, path: string): Promise<string> {
  const sent = request({ socketPath, path, timeout: 60_000 });
  sent.on('timeout', () => sent.destroy(new Error('the program does not answer'))).end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

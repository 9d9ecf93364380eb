import { statSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { Refused } from '@haptic/core/contract';
import { makeFolder } from './make-folder.ts';

/**
 * Makes the folder, and keeps every other process away that would be the same `program` for it, however the path to it is spelt. The
 * lock is an abstract socket: the kernel takes it back with the process, whatever ends that, and nobody has to tell a stale one from a
 * living one. Other systems than Linux have none; there nothing is locked.
 *
 * @throws Refused, naming the folder, when it is taken.
 */
export async function lockFolder(folder: string, program: string): Promise<AsyncDisposable> {
  makeFolder(folder);
  if (process.platform !== 'linux') return { [Symbol.asyncDispose]: () => Promise.resolve() };
  const { dev, ino } = statSync(folder, { bigint: true });
  const server = createServer((socket) => socket.destroy());
  try {
    await listening(server, `\0${program} of ${dev}:${ino}`);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const words = code === 'EADDRINUSE' ? `another ${program} is running on this folder` : message;
    throw new Refused([{ where: folder, message: words }]);
  }
  server.unref();
  return server;
}

function listening(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ path }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

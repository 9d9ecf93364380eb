import { mkdirSync, statSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { Refused } from '@haptic/core/contract';

/** Makes the folder where it is not there yet. @throws Refused, naming it, when that cannot be. */
export function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    // A file at the path itself, or above it.
    const isFile = code === 'EEXIST' || code === 'ENOTDIR';
    throw new Refused([
      {
        where: folder,
        message: isFile ? 'is a file or lies below one, expected a folder' : `cannot be made: ${message}`,
      },
    ]);
  }
}

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

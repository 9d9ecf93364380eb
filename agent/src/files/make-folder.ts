import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { Refused } from '@haptic/core/contract';

/** Makes the folder, and those above it, where they are not there yet. @throws Refused, naming it, when that cannot be. */
export function makeFolder(folder: string, mode = 0o700): void {
  try {
    makeAll(folder, mode);
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

/** Node's own never returns where nothing can be made in a folder that is there, as in /proc, and no signal ends that. */
function makeAll(folder: string, mode: number): void {
  if (isFolder(folder)) return;
  const parent = dirname(folder);
  if (parent !== folder) makeAll(parent, mode);
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    // Somebody else was faster.
    if (!isFolder(folder)) throw error;
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

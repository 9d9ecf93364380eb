import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { Refused } from '@haptic/core/contract';
import { stampOf } from './stamp.ts';

/** Larger files are refused: Kubernetes itself stores no object beyond 1.5 MiB. */
const LARGEST_FILE = 16 * 1024 * 1024;

export interface ReadText {
  readonly text: string;
  /** Of the file as it was read; undefined when it changed meanwhile, and the text may be of two minds. */
  readonly stamp: string | undefined;
}

function refuse(path: string, message: string): never {
  throw new Refused([{ where: path, message }]);
}

function decode(path: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return refuse(path, 'not UTF-8 text');
  }
}

/**
 * Reads a regular file whole.
 * @throws Refused for a file that is too large, no text or no file.
 */
export async function readText(path: string): Promise<ReadText> {
  // Without O_NONBLOCK, opening a pipe that took the file's place would wait for a writer for ever.
  await using handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const before = await handle.stat({ bigint: true });
  if (!before.isFile()) refuse(path, 'not a regular file');
  if (before.size > LARGEST_FILE) {
    refuse(path, `${before.size} bytes are too many: the largest file that is read has ${LARGEST_FILE}`);
  }
  const bytes = await handle.readFile();
  const after = await handle.stat({ bigint: true });
  const stamp = stampOf(after);
  return { text: decode(path, bytes), stamp: stamp === stampOf(before) ? stamp : undefined };
}

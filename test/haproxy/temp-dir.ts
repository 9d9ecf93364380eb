import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onCleanup } from './cleanup.ts';

/** A folder that is removed at the end of the test. Its path is short enough for Unix sockets. */
export async function tempDir(): Promise<string> {
  const path = await realpath(await mkdtemp(join(tmpdir(), 'haptic-')));
  onCleanup(() => rm(path, { recursive: true, force: true }));
  return path;
}

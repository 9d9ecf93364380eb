import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { parseVersionOutput } from './versions.ts';

/** The version that a program says with `-v`; undefined when it does not run or is not HAProxy. */
export async function versionOf(binary: string): Promise<string | undefined> {
  try {
    return parseVersionOutput((await promisify(execFile)(binary, ['-v'], { timeout: 10_000 })).stdout);
  } catch {
    return undefined;
  }
}

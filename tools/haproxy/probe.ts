import { execa } from 'execa';
import { parseVersionOutput } from './versions.ts';

/** The version that a program says with `-v`; undefined when it does not run or is not HAProxy. */
export async function versionOf(binary: string): Promise<string | undefined> {
  const result = await execa(binary, ['-v'], { reject: false, stdin: 'ignore', timeout: 10_000 });
  return result.failed ? undefined : parseVersionOutput(result.stdout);
}

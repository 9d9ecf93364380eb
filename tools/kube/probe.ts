import { execa } from 'execa';
import type { Program } from './programs.ts';

/** The version that a program tells; undefined when it does not run or is something else. */
export async function toolVersion(program: Program, binary: string): Promise<string | undefined> {
  const result = await execa(binary, program.versionArgs, {
    reject: false,
    stdin: 'ignore',
    timeout: 30_000,
    // kubectl and helm read the user's settings; a version needs none.
    env: { KUBECONFIG: '/nonexistent' },
  });
  if (result.failed) return undefined;
  return program.versionPattern.exec(result.stdout)?.[1];
}

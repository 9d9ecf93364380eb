import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Program } from './programs.ts';

/** The version that our go.mod pins, without `v`. */
export async function pinnedVersion(program: Program): Promise<string> {
  const text = await readFile(join(program.directory, 'go.mod'), 'utf8');
  return versionIn(text, program.requires);
}

/** @throws Error when the go.mod does not require the module. */
export function versionIn(goMod: string, module: string): string {
  for (const line of goMod.split('\n')) {
    const [name, version] = line
      .replace(/^require /, '')
      .trim()
      .split(/\s+/);
    if (name === module && version?.startsWith('v')) return version.slice(1);
  }
  throw new Error(`go.mod does not require ${module}`);
}

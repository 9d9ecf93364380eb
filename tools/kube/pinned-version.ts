import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Program } from './programs.ts';

/** The folder with the go.mod that pins a program and all that it is built from. */
export function moduleDirectory(program: Program): string {
  return fileURLToPath(new URL(`modules/${program.module}`, import.meta.url));
}

/** The version that our go.mod pins, without `v`. */
export async function pinnedVersion(program: Program): Promise<string> {
  const text = await readFile(`${moduleDirectory(program)}/go.mod`, 'utf8');
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

import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { cacheDirectory } from '../cache/cache-directory.ts';
import { overrideVariable } from './unavailable.ts';

/** Why branches could not be had, by branch. */
export type UnavailableRecord = Readonly<Record<string, string>>;

function recordPath(): string {
  return join(cacheDirectory(), 'haproxy', 'unavailable.json');
}

/** Kept so that not every test file tries again what has just failed. */
export async function recordUnavailable(record: UnavailableRecord): Promise<void> {
  const path = recordPath();
  await mkdir(dirname(path), { recursive: true });
  await writeFile(`${path}.${process.pid}`, `${JSON.stringify(record, null, 2)}\n`);
  await rename(`${path}.${process.pid}`, path);
}

/** Why the last preparation could not get the branch; undefined when it could, or when a binary was named since. */
export async function recordedReason(minor: string): Promise<string | undefined> {
  if (process.env[overrideVariable(minor)]) return undefined;
  const text = await readFile(recordPath(), 'utf8').catch(() => '{}');
  return (JSON.parse(text) as UnavailableRecord)[minor];
}

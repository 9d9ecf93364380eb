import {
  closeSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  symlinkSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';

/** How far a write must have got before it counts: `process` survives our death, `power` the machine's too. */
export type Durability = 'process' | 'power';

/** Writes a new file; an existing one is an error, so that no byte of another tree is ever changed. */
export function writeNew(path: string, content: Uint8Array, durability: Durability): void {
  const handle = openSync(path, 'wx', 0o600);
  try {
    writeAll(handle, content);
    if (durability === 'power') fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/** From the file's beginning, or behind what was written before. */
export function writeAll(handle: number, content: Uint8Array): void {
  for (let at = 0; at < content.byteLength;) at += writeSync(handle, content, at);
}

/** Replaces a small file in one step: readers see the old text or the new one. */
export function replaceFile(path: string, text: string, durability: Durability): void {
  const temporary = temporaryName(path);
  try {
    writeNew(temporary, Buffer.from(text), durability);
    renameSync(temporary, path);
  } catch (error) {
    unlinkIfThere(temporary);
    throw error;
  }
  if (durability === 'power') syncPath(dirname(path));
}

/** Points a symbolic link elsewhere in one step. */
export function replaceLink(path: string, target: string, durability: Durability): void {
  const temporary = temporaryName(path);
  symlinkSync(target, temporary);
  renameSync(temporary, path);
  if (durability === 'power') syncPath(dirname(path));
}

/** A folder's entries, or a file's bytes. */
export function syncPath(path: string): void {
  const handle = openSync(path, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/** The JSON in a file that only this module writes; undefined when it is absent or not JSON. */
export function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}

export function unlinkIfThere(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

const TEMPORARY = /\.\d+-[0-9a-f]{8}\.tmp$/;

/** True for what a killed process may have left beside the file that it was replacing. */
export function isTemporary(name: string): boolean {
  return TEMPORARY.test(name);
}

/** A name beside it that nobody else uses. */
function temporaryName(path: string): string {
  const random = Math.trunc(Math.random() * 0x1_0000_0000)
    .toString(16)
    .padStart(8, '0');
  return `${path}.${process.pid}-${random}.tmp`;
}

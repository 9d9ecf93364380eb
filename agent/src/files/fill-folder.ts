import {
  closeSync,
  constants,
  copyFileSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmdirSync,
} from 'node:fs';
import { join } from 'node:path';
import type { FileFacts } from '../protocol/index.ts';
import { syncPath, unlinkIfThere, writeAll, writeNew, type Durability } from './durable.ts';
import { FileTable } from './file-table.ts';
import { parents } from './path-rules.ts';

export interface Filling {
  readonly files: FileTable;
  /** What is in the folder already; undefined: nothing. */
  readonly former: FileTable | undefined;
  /** Bytes that were sent. */
  readonly contentOf: (digest: string) => Uint8Array | undefined;
  /** Where the bytes are on the disk already. */
  readonly sourceOf: (file: FileFacts) => string | undefined;
  readonly durability: Durability;
  /** Before each file that is made. */
  readonly onFile: () => void;
}

/**
 * Makes the folder hold the files, touching only those that it does not hold yet.
 * @throws when it does not hold what it is said to hold.
 */
export function fillFolder(folder: string, filling: Filling): void {
  const { files, former = FileTable.of([]), durability, onFile } = filling;
  const made = new Set<string>();
  const changed = files.differences(former);
  const gone = changed.filter((path) => former.get(path) !== undefined && files.get(path) === undefined);
  const emptied = removeFiles(folder, gone);
  for (const path of changed) {
    const file = files.get(path);
    if (file === undefined) continue;
    onFile();
    if (former.get(path)?.digest === file.digest) continue;
    for (const parent of parents(path)) {
      if (!made.has(parent)) makeFolder(join(folder, parent));
      made.add(parent);
    }
    placeFile(join(folder, path), file, filling);
  }
  if (durability === 'power')
    for (const path of new Set(['.', ...made, ...emptied])) syncPath(join(folder, path));
}

function placeFile(
  target: string,
  file: FileFacts,
  { former, contentOf, sourceOf, durability }: Filling,
): void {
  const content = contentOf(file.digest);
  const wasThere = former?.get(file.path) !== undefined;
  if (content !== undefined) {
    if (wasThere && overwrite(target, content, durability)) return;
    if (wasThere) unlinkIfThere(target);
    writeNew(target, content, durability);
    return;
  }
  const source = sourceOf(file);
  if (source === undefined) throw new Error(`${file.path}: neither sent nor held`);
  if (wasThere) unlinkIfThere(target);
  linkOrCopy(source, target);
  // It may have been written when nobody asked for that.
  if (durability === 'power') syncPath(target);
}

/** Gives a file other bytes, unless it is that of another tree, too: making files anew is what costs most. */
function overwrite(path: string, content: Uint8Array, durability: Durability): boolean {
  const handle = openSync(path, constants.O_WRONLY | constants.O_NOFOLLOW);
  try {
    const stats = fstatSync(handle);
    if (stats.nlink !== 1 || !stats.isFile()) return false;
    writeAll(handle, content);
    if (stats.size > content.byteLength) ftruncateSync(handle, content.byteLength);
    if (durability === 'power') fsyncSync(handle);
    return true;
  } finally {
    closeSync(handle);
  }
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    checkFolder(path);
  }
}

/** A link that somebody put there would lead out of the tree. */
function checkFolder(path: string): void {
  if (!lstatSync(path).isDirectory()) throw new Error(`${path} is no folder any more`);
}

/** With the folders that hold nothing any more. Returns those that stay, and hold less. */
function removeFiles(folder: string, paths: readonly string[]): ReadonlySet<string> {
  const left = new Set<string>();
  for (const path of paths) {
    for (const parent of parents(path)) {
      if (!left.has(parent)) checkFolder(join(folder, parent));
      left.add(parent);
    }
    unlinkIfThere(join(folder, path));
  }
  // The deepest first; one that still holds something stays.
  for (const parent of [...left].toSorted((a, b) => b.length - a.length)) {
    if (readdirSync(join(folder, parent)).length > 0) continue;
    rmdirSync(join(folder, parent));
    left.delete(parent);
  }
  return left;
}

/** Nothing beside these files, and no link that a write could follow out of the folder. */
export function holdsOnly(folder: string, files: FileTable): boolean {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const folders = new Set([...files].flatMap(({ path }) => parents(path)));
  return (
    entries.length === files.size + folders.size &&
    entries.every((entry) => entry.isFile() || entry.isDirectory())
  );
}

function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch (error) {
    // Some file systems have no hard links, and some bound their number.
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EPERM' && code !== 'EMLINK' && code !== 'ENOTSUP' && code !== 'EXDEV') throw error;
    copyFileSync(from, to);
  }
}

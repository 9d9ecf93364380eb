import type { BigIntStats, Dirent } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** A folder with all below it, or one file. */
export type Root = { readonly kind: 'folder' | 'file'; readonly path: string };

export interface Listing {
  /** Regular files with an extension that is ours, by path. */
  readonly files: ReadonlyMap<string, BigIntStats>;
  /** What is passed over that somebody may have meant: path → why. */
  readonly ignored: ReadonlyMap<string, string>;
  /** Roots that are not there, or not what they should be: path → what is wrong. */
  readonly broken: ReadonlyMap<string, string>;
}

/** Told of every folder before it is read, so that no change falls between reading and watching. */
export type VisitFolder = (path: string, stats: BigIntStats) => void;

const OURS = /\.(?:ya?ml|json)$/;

interface Walk {
  readonly files: Map<string, BigIntStats>;
  readonly ignored: Map<string, string>;
  readonly broken: Map<string, string>;
  readonly visit: VisitFolder;
}

function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error);
}

/** Stats of what a path leads to; undefined for what has just gone, or a link to nowhere. */
async function statOf(path: string, walk: Walk): Promise<BigIntStats | undefined> {
  try {
    return await stat(path, { bigint: true });
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') walk.ignored.set(path, `cannot be looked at: ${errorCode(error)}`);
    return undefined;
  }
}

/** A linked file changes where it really is. */
async function visitTarget(path: string, walk: Walk): Promise<void> {
  try {
    const folder = dirname(await realpath(path));
    walk.visit(folder, await stat(folder, { bigint: true }));
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
  }
}

async function walkEntry(entry: Dirent, path: string, above: readonly string[], walk: Walk): Promise<void> {
  const stats = await statOf(path, walk);
  if (stats === undefined) return;
  if (stats.isDirectory()) {
    await walkFolder(path, stats, above, walk);
  } else if (!stats.isFile()) {
    walk.ignored.set(path, 'neither a file nor a folder');
  } else if (OURS.test(entry.name)) {
    if (entry.isSymbolicLink()) await visitTarget(path, walk);
    walk.files.set(path, stats);
  }
}

async function walkFolder(
  path: string,
  stats: BigIntStats,
  above: readonly string[],
  walk: Walk,
): Promise<void> {
  const identity = `${stats.dev}:${stats.ino}`;
  if (above.includes(identity)) {
    walk.ignored.set(path, 'a link to a folder that it is in');
    return;
  }
  walk.visit(path, stats);
  let entries: Dirent[];
  try {
    entries = await readdir(path, { withFileTypes: true });
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') walk.ignored.set(path, `cannot be read: ${errorCode(error)}`);
    return;
  }
  // Hidden: what editors and Kubernetes' volumes (`..data`) keep beside the files.
  const shown = entries.filter(({ name }) => !name.startsWith('.'));
  await Promise.all(
    shown.map((entry) => walkEntry(entry, join(path, entry.name), [...above, identity], walk)),
  );
}

async function walkRoot({ kind, path }: Root, walk: Walk): Promise<void> {
  try {
    const stats = await stat(path, { bigint: true });
    if (kind === 'folder' && !stats.isDirectory()) walk.broken.set(path, 'is not a folder');
    else if (kind === 'file' && !stats.isFile()) walk.broken.set(path, 'is not a file');
    else if (kind === 'folder') await walkFolder(path, stats, [], walk);
    else {
      walk.visit(dirname(path), await stat(dirname(path), { bigint: true }));
      await visitTarget(path, walk);
      walk.files.set(path, await stat(path, { bigint: true }));
    }
  } catch (error) {
    walk.broken.set(
      path,
      errorCode(error) === 'ENOENT' ? 'does not exist' : `cannot be read: ${errorCode(error)}`,
    );
  }
}

/** Lists the files of all roots. Never fails: what cannot be read is in the answer. */
export async function listFiles(roots: readonly Root[], visit: VisitFolder): Promise<Listing> {
  const walk: Walk = { files: new Map(), ignored: new Map(), broken: new Map(), visit };
  for (const root of roots) await walkRoot(root, walk);
  const byPath = [...walk.files].sort(([a], [b]) => (a < b ? -1 : 1));
  return { ...walk, files: new Map(byPath) };
}

import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join, normalize } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { Bug, Cancelled, MAIN_CONFIG, Retry, type FileEntry, type FileSet } from '@haptic/core/contract';
import pLimit from 'p-limit';
import { ContentPool } from './content-pool.ts';
import { WorkFolder } from './work-folder.ts';

/** Writes in flight: more only queue up in front of the runtime's few threads. */
const PARALLEL = 32;

/** Synchronous file operations in a row: below a millisecond. */
const SLICE = 50;

/** Trees that may await removal: a check waits when the disk is that far behind. */
const MAX_REMOVALS = 4;

/** Stages file sets as trees on disk, each in a folder of its own that only this user can enter. */
export class Staging {
  readonly #folder: WorkFolder;
  readonly #pool: ContentPool;
  /** Trees that are being removed, behind the answer. */
  readonly #removals = new Set<Promise<void>>();

  constructor(folder = new WorkFolder(), pool = new ContentPool()) {
    this.#folder = folder;
    this.#pool = pool;
  }

  /** Calls back with the path of a complete tree; the tree is gone some time after. @throws Retry when the disk refuses. */
  async withTree<T>(files: FileSet, signal: AbortSignal, use: (tree: string) => Promise<T>): Promise<T> {
    const { root, tree } = await this.#stage(files, signal);
    try {
      return await use(tree);
    } finally {
      this.#remove(root, tree, files);
    }
  }

  /** Removes everything. Nothing may be using a tree any more. */
  async dispose(): Promise<void> {
    await Promise.all(this.#removals);
    await this.#folder.remove();
  }

  async #stage(
    files: FileSet,
    signal: AbortSignal,
  ): Promise<{ readonly root: string; readonly tree: string }> {
    while (this.#removals.size >= MAX_REMOVALS) await Promise.race(this.#removals);
    for (const { path } of files.entries) refuseOutside(path);
    let tree: string | undefined;
    let root = this.#folder.parent;
    try {
      root = await this.#folder.open();
      tree = join(root, `tree-${randomUUID()}`);
      await this.#fill(tree, join(root, 'pool'), files, signal);
      return { root, tree };
    } catch (error) {
      if (tree !== undefined) this.#remove(root, tree, files);
      if (!isSystemError(error)) throw error;
      throw new Retry(`cannot stage the files to check in ${root}: ${error.message}`, {
        cause: error,
      });
    }
  }

  async #fill(tree: string, pool: string, files: FileSet, signal: AbortSignal): Promise<void> {
    const folders = new Set(files.entries.map(({ path }) => dirname(join(tree, path))));
    await mkdir(tree, { mode: 0o700 });
    for (const folder of folders) await mkdir(folder, { recursive: true, mode: 0o700 });
    const changed: FileEntry[] = [];
    await inSlices(files.entries, (entry) => {
      if (signal.aborted) throw new Cancelled('the check was called off', { cause: signal.reason });
      // The configuration changes with nearly every render.
      const pooled =
        entry.path !== MAIN_CONFIG && this.#pool.link(pool, entry.digest, join(tree, entry.path));
      if (!pooled) changed.push(entry);
    });
    await pLimit(PARALLEL).map(changed, async ({ path, digest }) => {
      if (signal.aborted) throw new Cancelled('the check was called off', { cause: signal.reason });
      const target = join(tree, path);
      if (path !== MAIN_CONFIG) {
        await this.#pool.add(pool, digest, files.read(path));
        if (this.#pool.link(pool, digest, target)) return;
      }
      await writeFile(target, files.read(path), { flag: 'wx', mode: 0o400 });
    });
  }

  #remove(root: string, tree: string, files: FileSet): void {
    const removal = removeTree(tree, files)
      .then(() => this.#pool.shrink(join(root, 'pool')))
      // What cannot be removed goes with the whole folder, or at the next start.
      .catch(() => undefined)
      .finally(() => void this.#removals.delete(removal));
    this.#removals.add(removal);
  }
}

async function removeTree(tree: string, files: FileSet): Promise<void> {
  await inSlices(files.entries, ({ path }) => rmSync(join(tree, path), { force: true }));
  await rm(tree, { recursive: true, force: true });
}

/** Other work goes on between the slices. */
async function inSlices<T>(items: readonly T[], work: (item: T) => void): Promise<void> {
  for (let start = 0; start < items.length; start += SLICE) {
    items.slice(start, start + SLICE).forEach(work);
    await setImmediate();
  }
}

function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error;
}

/** A path that left the tree would write and remove somewhere else. The core refuses such names; this is the last line. */
function refuseOutside(path: string): void {
  const isInside =
    path !== '' &&
    !path.includes('\0') &&
    normalize(path) === path &&
    !path.startsWith('/') &&
    !/^\.\.?(\/|$)/.test(path);
  if (!isInside) throw new Bug(`a file of the set is not inside of it: ${JSON.stringify(path)}`);
}

import {
  copyFileSync,
  linkSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { isTemporary, replaceLink, syncFolder, unlinkIfThere, writeNew, type Durability } from './durable.ts';
import { parents } from './path-rules.ts';
import { driftedPaths, readTree, type Tree, type TreeFile, type TreeRecord } from './tree.ts';

/** The moments of an apply between which a crash must lose nothing; tests kill the process at each. */
export type FileStep = 'staging' | 'staged-file' | 'staged-files' | 'staged' | 'pointed' | 'collecting';

export interface TreeStoreOptions {
  readonly baseDir: string;
  readonly durability?: Durability;
  readonly onStep?: (step: FileStep) => void;
}

export interface StagedSet {
  readonly record: TreeRecord;
  /** Bytes by digest, for what the store lacks. */
  readonly contents: ReadonlyMap<string, Uint8Array>;
  /** Opaque, kept with the tree. */
  readonly plan: Uint8Array;
  /** Who made it: trees of the supervisor are not the agent's to remove, which may be at work at the same time. */
  readonly maker?: 'supervisor';
}

/** A link in the base directory that names a tree. */
export type Pointer = 'current' | 'lkg';

/**
 * The file trees below the base directory. Each is complete in a folder of its own (unchanged files are hard links), and
 * `current` is a symbolic link to the one that is applied: one rename commits an apply or takes it back, a reader that has
 * entered a tree keeps it, and a crash at any point leaves the old set or the new one.
 */
export class TreeStore {
  readonly baseDir: string;
  readonly #trees: string;
  readonly #durability: Durability;
  readonly #onStep: (step: FileStep) => void;
  readonly #cache = new Map<string, Tree>();
  /** By tree, what a check found changed: never linked into another tree. */
  readonly #drift = new Map<string, ReadonlySet<string>>();

  constructor(options: TreeStoreOptions) {
    this.baseDir = options.baseDir;
    this.#trees = join(options.baseDir, 'trees');
    this.#durability = options.durability ?? 'process';
    this.#onStep = options.onStep ?? (() => {});
    mkdirSync(this.#trees, { recursive: true, mode: 0o700 });
  }

  /** HAProxy's working directory: always the applied tree. */
  get workingDirectory(): string {
    return join(this.baseDir, 'current');
  }

  pointer(name: Pointer): Tree | undefined {
    const id = this.#target(name);
    return id === undefined ? undefined : this.tree(id);
  }

  tree(id: string): Tree | undefined {
    const known = this.#cache.get(id) ?? readTree(this.#trees, id);
    if (known !== undefined) this.#cache.set(id, known);
    return known;
  }

  /** Builds a tree beside the others; nothing points at it yet. On failure nothing of it stays. */
  stage(set: StagedSet): Tree {
    const id = `${set.maker ?? 'agent'}-${Date.now().toString(36)}-${randomBytes(4).toString('hex')}`;
    const building = join(this.#trees, `${id}.new`);
    try {
      mkdirSync(join(building, 'files'), { recursive: true, mode: 0o700 });
      this.#onStep('staging');
      this.#fill(join(building, 'files'), set);
      this.#onStep('staged-files');
      writeNew(join(building, 'plan.gz'), set.plan, this.#durability);
      writeNew(join(building, 'record.json'), Buffer.from(JSON.stringify(set.record)), this.#durability);
      if (this.#durability === 'power') syncFolder(building);
      renameSync(building, join(this.#trees, id));
    } catch (error) {
      rmSync(building, { recursive: true, force: true });
      throw error;
    }
    this.#onStep('staged');
    const tree = { id, folder: join(this.#trees, id, 'files'), record: set.record };
    this.#cache.set(id, tree);
    return tree;
  }

  point(name: Pointer, tree: Tree): void {
    if (this.#target(name) === tree.id) return;
    replaceLink(join(this.baseDir, name), join('trees', tree.id, 'files'), this.#durability);
    this.#onStep('pointed');
  }

  /** Takes the pointer away, where there is nothing to go back to. */
  unpoint(name: Pointer): void {
    unlinkIfThere(join(this.baseDir, name));
  }

  plan(tree: Tree): Buffer {
    return readFileSync(join(this.#trees, tree.id, 'plan.gz'));
  }

  /** Reads the tree's files and remembers which ones are not what was applied. */
  check(tree: Tree): readonly string[] {
    const drift = driftedPaths(tree);
    this.#drift.set(tree.id, new Set(drift));
    return drift;
  }

  /** What the last check found. */
  drift(tree: Tree): readonly string[] {
    return [...(this.#drift.get(tree.id) ?? [])];
  }

  /** Which of these files are in none of the trees, content and all. */
  missing(files: readonly TreeFile[], contents: ReadonlyMap<string, Uint8Array>): string[] {
    const held = this.#heldDigests();
    return files.filter(({ digest }) => !contents.has(digest) && !held.has(digest)).map(({ path }) => path);
  }

  /** Removes this maker's trees but the ones pointed at and those named, and what killed processes left behind. */
  collect(keep: readonly (string | null | undefined)[], maker: 'agent' | 'supervisor' = 'agent'): void {
    const kept = new Set([...keep, this.#target('current'), this.#target('lkg')]);
    for (const name of readdirSync(this.#trees)) {
      if (kept.has(name) || !name.startsWith(`${maker}-`)) continue;
      this.#onStep('collecting');
      rmSync(join(this.#trees, name), { recursive: true, force: true });
      this.#cache.delete(name);
      this.#drift.delete(name);
    }
    for (const name of readdirSync(this.baseDir))
      if (isTemporary(name)) unlinkIfThere(join(this.baseDir, name));
  }

  #target(name: Pointer): string | undefined {
    try {
      return /^trees\/([^/]+)\/files$/.exec(readlinkSync(join(this.baseDir, name)))?.[1];
    } catch {
      return undefined;
    }
  }

  #fill(folder: string, set: StagedSet): void {
    const held = this.#heldDigests();
    const made = new Set<string>();
    for (const file of set.record.files) {
      for (const parent of parents(file.path)) {
        if (made.has(parent)) continue;
        mkdirSync(join(folder, parent), { mode: 0o700 });
        made.add(parent);
      }
      const content = set.contents.get(file.digest);
      const source = held.get(file.digest);
      const target = join(folder, file.path);
      if (content !== undefined) writeNew(target, content, this.#durability);
      else if (source !== undefined) linkOrCopy(source, target);
      else throw new Error(`${file.path}: neither sent nor held`);
      this.#onStep('staged-file');
    }
    if (this.#durability === 'power') for (const path of ['.', ...made]) syncFolder(join(folder, path));
  }

  /** Where the bytes of each digest can be had: every complete tree that may still be needed. */
  #heldDigests(): Map<string, string> {
    const held = new Map<string, string>();
    for (const name of readdirSync(this.#trees)) {
      const tree = this.tree(name);
      if (tree === undefined) continue;
      const drift = this.#drift.get(name);
      for (const { path, digest } of tree.record.files) {
        if (drift?.has(path) !== true) held.set(digest, join(tree.folder, path));
      }
    }
    return held;
  }
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

import {
  copyFileSync,
  linkSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  rmSync,
} from 'node:fs';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { isTemporary, replaceLink, syncFolder, unlinkIfThere, writeNew, type Durability } from './durable.ts';
import type { Step } from '../steps.ts';
import { parents } from './path-rules.ts';
import { actualDigest, driftedPaths, readTree, type Tree, type TreeFile, type TreeRecord } from './tree.ts';

export interface TreeStoreOptions {
  readonly baseDir: string;
  readonly durability?: Durability;
  readonly onStep?: (step: Step) => void;
}

export interface StagedSet {
  readonly record: TreeRecord;
  /** Bytes by digest, for what the store lacks. */
  readonly contents: ReadonlyMap<string, Uint8Array>;
  /** Who made it: trees of the supervisor are not the agent's to remove, which may be at work at the same time. */
  readonly maker?: 'supervisor';
}

/** A link in the base directory that names a tree. */
export type Pointer = 'current' | 'lkg';

/** Ends the name of a tree that is being built. */
const UNFINISHED = '.new';

/**
 * The file trees below the base directory. Each is complete in a folder of its own (unchanged files are hard links), and
 * `current` is a symbolic link to the one that is applied: one rename commits an apply or takes it back, a reader that has
 * entered a tree keeps it, and a crash at any point leaves the old set or the new one.
 */
export class TreeStore {
  readonly baseDir: string;
  readonly #trees: string;
  readonly #durability: Durability;
  readonly #onStep: (step: Step) => void;
  readonly #cache = new Map<string, Tree>();
  /** By tree, what a check found changed: never linked into another tree. */
  readonly #drift = new Map<string, ReadonlySet<string>>();
  /** By tree, a path for each digest. */
  readonly #paths = new WeakMap<Tree, ReadonlyMap<string, string>>();
  /** A tree that nobody needs any more. */
  #spare: string | undefined;

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
    // Killed at the right moment an unfinished one has a record already.
    if (id.endsWith(UNFINISHED)) return undefined;
    const known = this.#cache.get(id) ?? readTree(this.#trees, id);
    if (known !== undefined) this.#cache.set(id, known);
    return known;
  }

  /** Builds a tree beside the others; nothing points at it yet. On failure nothing of it stays. */
  stage(set: StagedSet): Tree {
    const id = `${set.maker ?? 'agent'}-${Date.now().toString(36)}-${randomBytes(4).toString('hex')}`;
    const building = join(this.#trees, `${id}${UNFINISHED}`);
    try {
      const former = set.maker === undefined ? this.#reuseSpare(building) : [];
      mkdirSync(join(building, 'files'), { recursive: true, mode: 0o700 });
      this.#onStep('staging');
      this.#fill(join(building, 'files'), set, former);
      this.#onStep('staged-files');
      writeNew(join(building, 'record.json'), Buffer.from(JSON.stringify(set.record)), this.#durability);
      if (this.#durability === 'power') syncFolder(building);
      this.#onStep('recorded');
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

  /** All complete trees that are on the disk, the spare one included. */
  all(): Tree[] {
    return readdirSync(this.#trees).flatMap((name) => this.tree(name) ?? []);
  }

  /** The bytes of a digest; undefined where no tree has them. */
  read(digest: string): Buffer | undefined {
    const path = this.#source(this.#sources(), digest);
    return path === undefined ? undefined : readFileSync(path);
  }

  /** Reads the tree's files and remembers which ones are not what was applied; in the other trees, whose files they may be, too. */
  check(tree: Tree): readonly string[] {
    const drift = driftedPaths(tree);
    this.#drift.set(tree.id, new Set(drift));
    for (const other of drift.length === 0 ? [] : this.all()) {
      const changed = other.record.files.filter(
        ({ path, digest }) => drift.includes(path) && actualDigest(other, path) !== digest,
      );
      this.#drift.set(other.id, new Set([...this.drift(other), ...changed.map(({ path }) => path)]));
    }
    return drift;
  }

  /** What the last check found. */
  drift(tree: Tree): readonly string[] {
    return [...(this.#drift.get(tree.id) ?? [])];
  }

  /** Which of these files are in none of the trees, content and all. */
  missing(files: readonly TreeFile[], contents: ReadonlyMap<string, Uint8Array>): string[] {
    const trees = this.#sources();
    return files
      .filter(({ digest }) => !contents.has(digest) && this.#source(trees, digest) === undefined)
      .map(({ path }) => path);
  }

  /**
   * Removes this maker's trees but the ones pointed at and those named, and what killed processes left behind. The newest of
   * the rest is kept to be made into the next tree.
   */
  collect(keep: readonly (string | null | undefined)[], maker: 'agent' | 'supervisor' = 'agent'): void {
    this.#onStep('collecting');
    const kept = new Set([...keep, this.#target('current'), this.#target('lkg')]);
    const rest = readdirSync(this.#trees).filter((name) => !kept.has(name) && name.startsWith(`${maker}-`));
    if (maker === 'agent')
      this.#spare = rest
        .filter((name) => this.tree(name) !== undefined)
        .toSorted()
        .at(-1);
    for (const name of rest) if (name !== this.#spare) this.#remove(name);
    if (maker === 'supervisor') return;
    for (const name of readdirSync(this.baseDir)) {
      if (isTemporary(name)) unlinkIfThere(join(this.baseDir, name));
    }
  }

  #remove(name: string): void {
    rmSync(join(this.#trees, name), { recursive: true, force: true });
    this.#forget(name);
  }

  #forget(name: string): void {
    this.#cache.delete(name);
    this.#drift.delete(name);
  }

  /**
   * Turns the spare tree into an unfinished one: an apply then costs what has changed since, not a link for every file. Answers
   * what is in it.
   */
  #reuseSpare(building: string): readonly TreeFile[] {
    const name = this.#spare;
    this.#spare = undefined;
    const spare = name === undefined ? undefined : this.tree(name);
    if (name === undefined || spare === undefined) return [];
    if (this.drift(spare).length > 0 || !holdsOnly(spare)) {
      this.#remove(name);
      return [];
    }
    this.#forget(name);
    renameSync(join(this.#trees, name), building);
    this.#onStep('reused');
    unlinkIfThere(join(building, 'record.json'));
    return spare.record.files;
  }

  #target(name: Pointer): string | undefined {
    try {
      return /^trees\/([^/]+)\/files$/.exec(readlinkSync(join(this.baseDir, name)))?.[1];
    } catch {
      return undefined;
    }
  }

  /** Makes the folder, which holds `former` already, hold the set. */
  #fill(folder: string, set: StagedSet, former: readonly TreeFile[]): void {
    const kept = this.#keepSame(folder, set, former);
    const trees = this.#sources();
    const made = new Set<string>();
    for (const file of set.record.files) {
      this.#onStep('staged-file');
      if (kept.has(file.path)) continue;
      for (const parent of parents(file.path)) {
        if (!made.has(parent)) mkdirSync(join(folder, parent), { recursive: true, mode: 0o700 });
        made.add(parent);
      }
      const content = set.contents.get(file.digest);
      const source = content === undefined ? this.#source(trees, file.digest) : undefined;
      const target = join(folder, file.path);
      if (content !== undefined) writeNew(target, content, this.#durability);
      else if (source !== undefined) linkOrCopy(source, target);
      else throw new Error(`${file.path}: neither sent nor held`);
    }
    if (this.#durability === 'power') for (const path of ['.', ...made]) syncFolder(join(folder, path));
  }

  /** Removes what the set does not have, or has with other bytes; answers which paths are right already. */
  #keepSame(folder: string, { record, contents }: StagedSet, former: readonly TreeFile[]): Set<string> {
    const wanted = new Map(record.files.map(({ path, digest }) => [path, digest]));
    const kept = new Set<string>();
    const left = new Set<string>();
    for (const { path, digest } of former) {
      if (wanted.get(path) === digest && !contents.has(digest)) {
        kept.add(path);
        continue;
      }
      unlinkIfThere(join(folder, path));
      for (const parent of parents(path)) left.add(parent);
    }
    // The deepest first; one that still holds something stays.
    for (const parent of [...left].toSorted((a, b) => b.length - a.length)) {
      if (readdirSync(join(folder, parent)).length === 0) rmdirSync(join(folder, parent));
    }
    return kept;
  }

  /** Where the bytes of a digest can be had: in a complete tree, but not the spare one, which is going to be another. */
  #source(trees: readonly Tree[], digest: string): string | undefined {
    for (const tree of trees) {
      const path = this.#pathsOf(tree).get(digest);
      if (path !== undefined && this.#drift.get(tree.id)?.has(path) !== true) return join(tree.folder, path);
    }
    return undefined;
  }

  #sources(): Tree[] {
    return this.all().filter(({ id }) => id !== this.#spare);
  }

  #pathsOf(tree: Tree): ReadonlyMap<string, string> {
    const known = this.#paths.get(tree);
    if (known !== undefined) return known;
    const paths = new Map(tree.record.files.map(({ path, digest }) => [digest, path]));
    this.#paths.set(tree, paths);
    return paths;
  }
}

/** Nothing beside its own files, and no link that a write could follow out of the tree. */
function holdsOnly({ folder, record: { files } }: Tree): boolean {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const expected = files.length + new Set(files.flatMap(({ path }) => parents(path))).size;
  return entries.length === expected && entries.every((entry) => entry.isFile() || entry.isDirectory());
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

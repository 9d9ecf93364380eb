import { existsSync, mkdirSync, readdirSync, readlinkSync, renameSync, rmSync, statSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { isTemporary, replaceLink, syncPath, unlinkIfThere, type Durability } from './durable.ts';
import type { FileFacts } from '../protocol/index.ts';
import type { Step } from '../steps.ts';
import { fillFolder, holdsOnly } from './fill-folder.ts';
import { makeFolder } from './make-folder.ts';
import type { FileTable } from './file-table.ts';
import { actualDigest, driftedPaths, type Tree, type TreeRecord } from './tree.ts';
import { TreeLog, type Maker } from './tree-log.ts';

export interface TreeStoreOptions {
  readonly baseDir: string;
  readonly durability?: Durability;
  readonly onStep?: (step: Step) => void;
  /** Whose store this is: trees of the other one, which may be at work at the same time, are not its to remove. */
  readonly maker?: Maker;
}

export interface StagedSet {
  readonly record: TreeRecord;
  /** Bytes by digest, for what the store lacks. */
  readonly contents: ReadonlyMap<string, Uint8Array>;
}

/** A link in the base directory that names a tree. */
export type Pointer = 'current' | 'lkg';

/** The link that becomes `current` when it goes back to the tree before. */
const WAY_BACK = 'former';

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
  readonly #maker: Maker;
  readonly #durability: Durability;
  readonly #onStep: (step: Step) => void;
  readonly #logs: Readonly<Record<Maker, TreeLog>>;
  readonly #cache = new Map<string, Tree>();
  /** By tree, what a check found changed: never linked into another tree. */
  readonly #drift = new Map<string, ReadonlySet<string>>();
  /** A path for each digest. */
  readonly #paths = new WeakMap<FileTable, ReadonlyMap<string, string>>();
  /** A tree that nobody needs any more. */
  #spare: string | undefined;
  /** Trees whose folders are known to hold their files and nothing else. */
  readonly #clean = new WeakSet<Tree>();
  /** Trees that were made here, with all that is in them as durable as it is asked for now. */
  readonly #durable = new WeakSet<Tree>();

  constructor(options: TreeStoreOptions) {
    const { baseDir, durability = 'process', maker = 'agent', onStep = () => {} } = options;
    this.baseDir = baseDir;
    this.#trees = join(baseDir, 'trees');
    this.#maker = maker;
    this.#durability = durability;
    this.#onStep = onStep;
    makeFolder(this.#trees);
    this.#logs = {
      agent: new TreeLog(baseDir, 'agent', durability),
      supervisor: new TreeLog(baseDir, 'supervisor', durability),
    };
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
    const known = this.#cache.get(id);
    if (known !== undefined) return known;
    const folder = join(this.#trees, id, 'files');
    const maker = makerOf(id);
    if (maker === undefined || statSync(folder, { throwIfNoEntry: false }) === undefined) return undefined;
    const record = this.#logs[maker].get(id);
    if (record === undefined) return undefined;
    const tree = { id, folder, record };
    if (maker !== this.#maker) this.#forgetGone();
    this.#cache.set(id, tree);
    return tree;
  }

  /** Trees of the other maker go without a word. */
  #forgetGone(): void {
    for (const { id, folder } of this.#cache.values()) {
      if (statSync(folder, { throwIfNoEntry: false }) === undefined) this.#cache.delete(id);
    }
  }

  /** Builds a tree beside the others; nothing points at it yet. On failure nothing of it stays. */
  stage(set: StagedSet): Tree {
    if (this.#spare === undefined) return this.#stage(set);
    try {
      return this.#stage(set);
    } catch {
      // The spare tree may have been at fault.
      return this.#stage(set);
    }
  }

  #stage({ record, contents }: StagedSet): Tree {
    const id = `${this.#maker}-${Date.now().toString(36)}-${randomBytes(4).toString('hex')}`;
    const building = join(this.#trees, `${id}${UNFINISHED}`);
    try {
      const former = this.#reuseSpare(building);
      makeFolders(building);
      this.#onStep('staging');
      const trees = this.#sources();
      fillFolder(join(building, 'files'), {
        files: record.files,
        former,
        contentOf: (digest) => contents.get(digest),
        sourceOf: (file) => this.#source(trees, file),
        durability: this.#durability,
        onFile: () => this.#onStep('staged-file'),
      });
      this.#onStep('staged-files');
      if (this.#durability === 'power') syncPath(building);
      this.#logs[this.#maker].add(id, record, () =>
        this.all().filter((tree) => makerOf(tree.id) === this.#maker),
      );
      this.#onStep('recorded');
      renameSync(building, join(this.#trees, id));
      if (this.#durability === 'power') syncPath(this.#trees);
    } catch (error) {
      rmSync(building, { recursive: true, force: true });
      throw error;
    }
    this.#onStep('staged');
    const tree = { id, folder: join(this.#trees, id, 'files'), record };
    this.#cache.set(id, tree);
    this.#clean.add(tree);
    this.#durable.add(tree);
    return tree;
  }

  point(name: Pointer, tree: Tree): void {
    if (this.#target(name) === tree.id) return;
    if (this.#maker === 'agent' && name === 'current' && this.#target(WAY_BACK) === tree.id) this.#goBack();
    else this.#link(name, tree);
    this.#onStep('pointed');
  }

  /** From now on `current` can be pointed at this tree also where the disk has no room for another link. For agents. */
  keepWayBack(tree: Tree): void {
    if (this.#target(WAY_BACK) !== tree.id) this.#link(WAY_BACK, tree);
  }

  #goBack(): void {
    renameSync(join(this.baseDir, WAY_BACK), this.workingDirectory);
    if (this.#durability === 'power') syncPath(this.baseDir);
  }

  #link(name: string, tree: Tree): void {
    replaceLink(join(this.baseDir, name), join('trees', tree.id, 'files'), this.#durability);
  }

  /** Takes the pointer away, where there is nothing to go back to. */
  unpoint(name: Pointer): void {
    unlinkIfThere(join(this.baseDir, name));
    if (this.#durability === 'power') syncPath(this.baseDir);
  }

  /** All complete trees that are on the disk, the spare one included. */
  all(): Tree[] {
    return readdirSync(this.#trees).flatMap((name) => this.tree(name) ?? []);
  }

  /** Where a file's bytes can be read; undefined where no tree has them. */
  sourceOf(file: Pick<FileFacts, 'path' | 'digest'>): string | undefined {
    return this.#source(this.#sources(), file);
  }

  /** Reads the tree's files and remembers which ones are not what was applied; in the other trees, whose files they may be, too. */
  check(tree: Tree): readonly string[] {
    const drift = driftedPaths(tree);
    this.#drift.set(tree.id, new Set(drift));
    for (const other of this.all()) {
      this.#clean.delete(other);
      const changed = drift.filter((path) => {
        const file = other.record.files.get(path);
        return file !== undefined && actualDigest(other, path) !== file.digest;
      });
      if (changed.length > 0) this.#drift.set(other.id, new Set([...this.drift(other), ...changed]));
    }
    return drift;
  }

  /** What the last check found. */
  drift(tree: Tree): readonly string[] {
    return [...(this.#drift.get(tree.id) ?? [])];
  }

  /** Which of these files are in none of the trees, content and all. */
  missing(files: readonly FileFacts[], contents: ReadonlyMap<string, Uint8Array>): string[] {
    const trees = this.#sources();
    return files
      .filter((file) => !contents.has(file.digest) && this.#source(trees, file) === undefined)
      .map(({ path }) => path);
  }

  /**
   * Removes this maker's trees but the ones pointed at and those named, and what killed processes left behind. The agent keeps the
   * newest of the rest, to be made into the next tree.
   */
  collect(keep: readonly (string | null | undefined)[]): void {
    this.#onStep('collecting');
    const kept = new Set([...keep, this.#target('current'), this.#target('lkg')]);
    const rest = readdirSync(this.#trees).filter((name) => !kept.has(name) && makerOf(name) === this.#maker);
    if (this.#maker === 'agent')
      this.#spare = rest
        .filter((name) => this.tree(name) !== undefined)
        .toSorted()
        .at(-1);
    for (const name of rest) if (name !== this.#spare) this.#remove(name);
    if (this.#maker === 'supervisor') return;
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
    this.#logs[this.#maker].forget(name);
  }

  /**
   * Turns the spare tree into an unfinished one: an apply then costs what has changed since, not a link for every file. Answers
   * what is in it.
   */
  #reuseSpare(building: string): FileTable | undefined {
    const name = this.#spare;
    this.#spare = undefined;
    const spare = name === undefined ? undefined : this.tree(name);
    if (name === undefined || spare === undefined) return undefined;
    const isClean = this.#clean.has(spare) || holdsOnly(spare.folder, spare.record.files);
    const isDurable = this.#durability === 'process' || this.#durable.has(spare);
    if (this.drift(spare).length > 0 || !isClean || !isDurable) {
      this.#remove(name);
      return undefined;
    }
    this.#forget(name);
    renameSync(join(this.#trees, name), building);
    this.#onStep('reused');
    return spare.record.files;
  }

  #target(name: Pointer | typeof WAY_BACK): string | undefined {
    try {
      return /^trees\/([^/]+)\/files$/.exec(readlinkSync(join(this.baseDir, name)))?.[1];
    } catch {
      return undefined;
    }
  }

  /** Where the bytes of a file can be had: mostly where it stood before, but any file of that digest will do. */
  #source(trees: readonly Tree[], { path, digest }: Pick<FileFacts, 'path' | 'digest'>): string | undefined {
    const holds = (tree: Tree, at: string): boolean => this.#drift.get(tree.id)?.has(at) !== true;
    for (const tree of trees) {
      if (tree.record.files.get(path)?.digest === digest && holds(tree, path)) return join(tree.folder, path);
    }
    for (const tree of trees) {
      const other = this.#pathsOf(tree.record.files).get(digest);
      if (other !== undefined && holds(tree, other)) return join(tree.folder, other);
    }
    return undefined;
  }

  /** Complete trees, but not the spare one, which is going to be another. */
  #sources(): Tree[] {
    return this.all().filter(({ id }) => id !== this.#spare);
  }

  #pathsOf(files: FileTable): ReadonlyMap<string, string> {
    const known = this.#paths.get(files);
    if (known !== undefined) return known;
    const paths = new Map([...files].map(({ path, digest }) => [digest, path]));
    this.#paths.set(files, paths);
    return paths;
  }
}

function makerOf(id: string): Maker | undefined {
  const [maker] = id.split('-', 1);
  return maker === 'agent' || maker === 'supervisor' ? maker : undefined;
}

/** One by one: where the file system cannot be written, a recursive call says that there is no such folder. */
function makeFolders(building: string): void {
  for (const path of [building, join(building, 'files')])
    if (!existsSync(path)) mkdirSync(path, { mode: 0o700 });
}

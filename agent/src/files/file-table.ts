import {
  fileSetDigest,
  sumOf,
  withFile,
  withoutFile,
  type FileFacts,
  type FileSetSum,
} from '../protocol/index.ts';

/** A change is kept beside the table that it was made from until it speaks of so many paths. */
const MOST_CHANGES = 64;

/** The files of a set by path. Never changed: another set is another table, which shares with this one what both have. */
export class FileTable implements Iterable<FileFacts> {
  readonly #base: ReadonlyMap<string, FileFacts>;
  /** What differs from `base`; undefined: not there. */
  readonly #changes: ReadonlyMap<string, FileFacts | undefined>;
  readonly size: number;
  #sum: FileSetSum | undefined;

  private constructor(
    base: ReadonlyMap<string, FileFacts>,
    changes: ReadonlyMap<string, FileFacts | undefined>,
    size: number,
    sum?: FileSetSum,
  ) {
    this.#base = base;
    this.#changes = changes;
    this.size = size;
    this.#sum = sum;
  }

  static of(files: Iterable<FileFacts>): FileTable {
    const base = new Map<string, FileFacts>();
    for (const file of files) base.set(file.path, plain(file));
    return new FileTable(base, new Map(), base.size);
  }

  /** The digest of the whole set. */
  get digest(): string {
    this.#sum ??= sumOf(this);
    return fileSetDigest(this.#sum);
  }

  get(path: string): FileFacts | undefined {
    return this.#changes.has(path) ? this.#changes.get(path) : this.#base.get(path);
  }

  *[Symbol.iterator](): Iterator<FileFacts> {
    for (const file of this.#base.values()) if (!this.#changes.has(file.path)) yield file;
    for (const file of this.#changes.values()) if (file !== undefined) yield file;
  }

  /** Whether one of the files that count stands below this path. */
  hasFolder(path: string, counts: (path: string) => boolean): boolean {
    const prefix = `${path}/`;
    for (const file of this) if (file.path.startsWith(prefix) && counts(file.path)) return true;
    return false;
  }

  /** Without what is removed, and with these files, which take the place of what has their paths. */
  with(files: Iterable<FileFacts>, removed: Iterable<string> = []): FileTable {
    const changes = new Map(this.#changes);
    let sum = (this.#sum ??= sumOf(this));
    let { size } = this;
    const take = (path: string): void => {
      const old = changes.has(path) ? changes.get(path) : this.#base.get(path);
      if (old === undefined) return;
      sum = withoutFile(sum, old);
      size -= 1;
    };
    for (const path of removed) {
      take(path);
      changes.set(path, undefined);
    }
    for (const file of files) {
      take(file.path);
      sum = withFile(sum, file);
      size += 1;
      changes.set(file.path, plain(file));
    }
    if (changes.size <= MOST_CHANGES) return new FileTable(this.#base, changes, size, sum);
    const base = new Map(this.#base);
    for (const [path, file] of changes) {
      if (file === undefined) base.delete(path);
      else base.set(path, file);
    }
    return new FileTable(base, new Map(), size, sum);
  }

  /** The paths that are not the same in the other table. */
  differences(other: FileTable): string[] {
    const paths =
      this.#base === other.#base
        ? [...this.#changes.keys(), ...other.#changes.keys()]
        : [...this, ...other].map(({ path }) => path);
    return [...new Set(paths)].filter((path) => !sameFile(this.get(path), other.get(path)));
  }
}

function sameFile(a: FileFacts | undefined, b: FileFacts | undefined): boolean {
  if (a === b || a === undefined || b === undefined) return a === b;
  return (
    a.digest === b.digest && a.kind === b.kind && a.reloadOnChange === b.reloadOnChange && a.size === b.size
  );
}

/** Nothing else that an apply said of it: contents are large. */
function plain({ path, digest, size, kind, reloadOnChange }: FileFacts): FileFacts {
  return { path, digest, size, kind, reloadOnChange };
}

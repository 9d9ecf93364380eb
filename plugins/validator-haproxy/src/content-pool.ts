import { randomUUID } from 'node:crypto';
import { linkSync, statSync } from 'node:fs';
import { mkdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

interface Pooled {
  readonly size: number;
  readonly mtimeMs: number;
}

export interface PoolLimits {
  readonly bytes: number;
  readonly files: number;
}

const DEFAULT_LIMITS: PoolLimits = { bytes: 256 * 1024 * 1024, files: 50_000 };

/**
 * Files by digest, to be hard-linked into staged trees: what has not changed since the last check is not written again. Least
 * recently used ones go first; a tree keeps its own links, so nothing is taken away under a check.
 */
export class ContentPool {
  readonly #limits: PoolLimits;
  /** In order of use, the latest last. */
  readonly #files = new Map<string, Pooled>();
  #bytes = 0;

  constructor(limits: PoolLimits = DEFAULT_LIMITS) {
    this.#limits = limits;
  }

  get size(): PoolLimits {
    return { bytes: this.#bytes, files: this.#files.size };
  }

  /**
   * Links the file to `target` when the pool has it as it was written. Synchronous: a link costs microseconds, and a set has
   * thousands, which the runtime's few threads would take four times as long for.
   */
  link(folder: string, digest: string, target: string): boolean {
    const pooled = join(folder, digest);
    if (!this.#isIntact(digest, pooled)) return false;
    try {
      linkSync(pooled, target);
      return true;
    } catch (error) {
      // Evicted meanwhile, or the kernel's limit of links to one file.
      if (['ENOENT', 'EMLINK'].includes((error as NodeJS.ErrnoException).code ?? '')) return false;
      throw error;
    }
  }

  /** Down to the limits. */
  async shrink(folder: string): Promise<void> {
    for (const digest of this.#files.keys()) {
      if (this.#bytes <= this.#limits.bytes && this.#files.size <= this.#limits.files) return;
      this.#forget(digest);
      await rm(join(folder, digest), { force: true });
    }
  }

  /** Writes the file to the pool, in place of what is there. */
  async add(folder: string, digest: string, bytes: Uint8Array): Promise<void> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const pooled = join(folder, digest);
    const temporary = `${pooled}.${randomUUID()}`;
    try {
      await writeFile(temporary, bytes, { flag: 'wx', mode: 0o400 });
      const { size, mtimeMs } = await stat(temporary);
      await rename(temporary, pooled);
      this.#forget(digest);
      this.#files.set(digest, { size, mtimeMs });
      this.#bytes += size;
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
  }

  /** A Lua script of a judged configuration can write to its files; such a file is written anew. */
  #isIntact(digest: string, path: string): boolean {
    const known = this.#files.get(digest);
    if (known === undefined) return false;
    const found = statSync(path, { throwIfNoEntry: false });
    if (found?.size !== known.size || found.mtimeMs !== known.mtimeMs) return false;
    this.#files.delete(digest);
    this.#files.set(digest, known);
    return true;
  }

  #forget(digest: string): void {
    this.#bytes -= this.#files.get(digest)?.size ?? 0;
    this.#files.delete(digest);
  }
}

import { mkdirSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { digestOf } from './tree.ts';
import { isTemporary, temporaryName, unlinkIfThere, writeNew, type Durability } from './durable.ts';

/** The parts of stored plans, each in a file that its digest names: plans that follow each other share most of them. */
export class PlanStore {
  readonly #folder: string;
  readonly #durability: Durability;
  readonly #held: Set<string>;

  constructor(baseDir: string, durability: Durability = 'process') {
    this.#folder = join(baseDir, 'plans');
    this.#durability = durability;
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    const found = readdirSync(this.#folder);
    for (const name of found.filter(isTemporary)) unlinkIfThere(join(this.#folder, name));
    this.#held = new Set(found.filter((name) => !isTemporary(name)));
  }

  /** Which of these are neither held nor given. */
  missing(chunks: readonly string[], given: ReadonlyMap<string, Uint8Array>): string[] {
    return chunks.filter((digest) => !this.#held.has(digest) && !given.has(digest));
  }

  write(given: ReadonlyMap<string, Uint8Array>): void {
    for (const [digest, bytes] of given) {
      if (this.#held.has(digest)) continue;
      const path = join(this.#folder, digest);
      const temporary = temporaryName(path);
      try {
        writeNew(temporary, bytes, this.#durability);
        renameSync(temporary, path);
      } catch (error) {
        unlinkIfThere(temporary);
        throw error;
      }
      this.#held.add(digest);
    }
  }

  /** The bytes of each, in order; undefined when one was changed or is gone. */
  read(chunks: readonly string[]): readonly Buffer[] | undefined {
    const parts: Buffer[] = [];
    for (const digest of chunks) {
      try {
        const bytes = readFileSync(join(this.#folder, digest));
        if (digestOf(bytes) !== digest) return undefined;
        parts.push(bytes);
      } catch {
        return undefined;
      }
    }
    return parts;
  }

  /** Removes all but these. */
  keep(chunks: ReadonlySet<string>): void {
    for (const digest of this.#held) {
      if (chunks.has(digest)) continue;
      unlinkIfThere(join(this.#folder, digest));
      this.#held.delete(digest);
    }
  }
}

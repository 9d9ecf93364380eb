import { closeSync, fsyncSync, ftruncateSync, fstatSync, openSync, readFileSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { replaceFile, syncPath, type Durability } from './durable.ts';

/** Rewritten when it is longer than this many bytes, and than so many of its records. */
const LONGEST = 64 * 1024;
const MOST_RECORDS = 8;

/**
 * A small record that is written often: each version is a line at the end of the file, and the last whole line counts. Replacing
 * the file each time would cost milliseconds: file systems bring a file to the disk when it takes the place of another one.
 */
export class LastRecord {
  readonly #path: string;
  readonly #durability: Durability;
  /** A killed predecessor left half a line at the end. */
  #isTorn = false;

  constructor(path: string, durability: Durability) {
    this.#path = path;
    this.#durability = durability;
  }

  /** The record as it was written last; undefined when there is none. To be read before it is written. */
  read(): unknown {
    try {
      const text = readFileSync(this.#path, 'utf8');
      const end = text.lastIndexOf('\n');
      this.#isTorn = end !== text.length - 1;
      return JSON.parse(text.slice(text.lastIndexOf('\n', end - 1) + 1, end));
    } catch {
      return undefined;
    }
  }

  /** @throws when it could not be written; then the former record counts. */
  write(record: unknown): void {
    const line = Buffer.from(`${JSON.stringify(record)}\n`);
    if (this.#append(line)) return;
    replaceFile(this.#path, line.toString(), this.#durability);
    this.#isTorn = false;
  }

  /** False when the file has grown too long. */
  #append(line: Buffer): boolean {
    const handle = openSync(this.#path, 'a', 0o600);
    try {
      const { size } = fstatSync(handle);
      if (size > Math.max(LONGEST, MOST_RECORDS * line.byteLength) || this.#isTorn) return false;
      try {
        for (let at = 0; at < line.byteLength;) at += writeSync(handle, line, at);
        if (this.#durability === 'power') fsyncSync(handle);
        if (this.#durability === 'power' && size === 0) syncPath(dirname(this.#path));
      } catch (error) {
        // Half a line would spoil the next one.
        ftruncateSync(handle, size);
        throw error;
      }
      return true;
    } finally {
      closeSync(handle);
    }
  }
}

import { closeSync, fstatSync, fsyncSync, ftruncateSync, openSync, readSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { replaceFile, syncPath, writeAll, type Durability } from './durable.ts';

const LINE_END = 10;

/** A file of lines that only grows until it is written anew. Appending is far cheaper than replacing a file, or making one. */
export class AppendedFile {
  readonly #path: string;
  readonly #durability: Durability;
  #size: number;

  constructor(path: string, durability: Durability) {
    this.#path = path;
    this.#durability = durability;
    this.#size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  }

  get size(): number {
    return this.#size;
  }

  /** @throws when it could not be written; then nothing of it is there. */
  append(content: string | Uint8Array): number {
    const bytes = typeof content === 'string' ? Buffer.from(content) : content;
    const handle = openSync(this.#path, 'a+', 0o600);
    try {
      const size = wholeSize(handle);
      try {
        writeAll(handle, bytes);
        if (this.#durability === 'power') fsyncSync(handle);
        if (this.#durability === 'power' && size === 0) syncPath(dirname(this.#path));
      } catch (error) {
        ftruncateSync(handle, size);
        throw error;
      }
      this.#size = size + bytes.byteLength;
      return size;
    } finally {
      closeSync(handle);
    }
  }

  /** In one step: readers see the old content or the new one. */
  replace(content: string): void {
    replaceFile(this.#path, content, this.#durability);
    this.#size = Buffer.byteLength(content);
  }
}

/** Cuts off what a killed predecessor left of a line. */
function wholeSize(handle: number): number {
  const { size } = fstatSync(handle);
  const last = Buffer.alloc(1);
  if (size === 0 || (readSync(handle, last, 0, 1, size - 1) === 1 && last[0] === LINE_END)) return size;
  const tail = Buffer.alloc(Math.min(size, 64 * 1024));
  let end = size;
  while (end > 0) {
    const from = Math.max(0, end - tail.byteLength);
    const read = readSync(handle, tail, 0, end - from, from);
    const at = tail.subarray(0, read).lastIndexOf(LINE_END);
    if (at !== -1) {
      end = from + at + 1;
      break;
    }
    end = from;
  }
  ftruncateSync(handle, end);
  return end;
}

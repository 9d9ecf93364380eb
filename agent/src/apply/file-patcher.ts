import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import type { TreeStore } from '../files/tree-store.ts';
import { digestOf } from '../files/tree.ts';
import { LIMITS, type ApplyRequest, type FilePatch } from '../protocol/index.ts';

/** More than that is not kept for the next apply. */
const MOST_KEPT = 4 * 1024 * 1024;

/**
 * Makes files by their patches from bytes that are held. The memory for it is used again by the next apply: fresh memory for a
 * large file costs more than all that is done with it.
 */
export class FilePatcher {
  readonly #trees: TreeStore;
  #memory = Buffer.alloc(0);
  #used = 0;

  constructor(trees: TreeStore) {
    this.#trees = trees;
  }

  /** By digest, good until the next call. A patch that does not do is left out, so that its file is missing. */
  patched({ files }: ApplyRequest): Map<string, Uint8Array> {
    this.#used = 0;
    if (this.#memory.byteLength > MOST_KEPT) this.#memory = Buffer.alloc(0);
    const made = new Map<string, Uint8Array>();
    for (const { path, patch, digest, size } of files) {
      if (patch === undefined) continue;
      const source = this.#trees.sourceOf({ path, digest: patch.from });
      const base = source === undefined ? undefined : this.#read(source);
      const bytes = base === undefined ? undefined : this.#apply(base, patch.parts, size);
      if (bytes !== undefined && digestOf(bytes) === digest) made.set(digest, bytes);
    }
    return made;
  }

  /** Undefined where the parts make no `size` bytes, or more than could be sent as they are: parts may repeat. */
  #apply(base: Buffer, parts: FilePatch['parts'], size: number): Buffer | undefined {
    if (size > LIMITS.body) return undefined;
    const target = this.#take(size);
    let at = 0;
    for (const part of parts) {
      const bytes =
        typeof part === 'string' ? Buffer.from(part, 'base64') : base.subarray(part[0], part[0] + part[1]);
      if (at + bytes.byteLength > size) return undefined;
      target.set(bytes, at);
      at += bytes.byteLength;
    }
    return at === size ? target : undefined;
  }

  #read(path: string): Buffer | undefined {
    try {
      const handle = openSync(path, 'r');
      try {
        const target = this.#take(fstatSync(handle).size);
        let at = 0;
        for (let read = -1; read !== 0 && at < target.byteLength; at += read)
          read = readSync(handle, target, at, target.byteLength - at, at);
        return target.subarray(0, at);
      } finally {
        closeSync(handle);
      }
    } catch {
      return undefined;
    }
  }

  #take(size: number): Buffer {
    // What was taken before stays where it is.
    if (this.#used + size > this.#memory.byteLength) {
      this.#memory = Buffer.allocUnsafeSlow(Math.max(2 * size, this.#memory.byteLength));
      this.#used = 0;
    }
    const taken = this.#memory.subarray(this.#used, this.#used + size);
    this.#used += size;
    return taken;
  }
}

import { closeSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { AppendedFile } from './appended-file.ts';
import type { Durability } from './durable.ts';
import { digestOf } from './tree.ts';

interface Place {
  readonly offset: number;
  readonly length: number;
}

const DIGEST_LENGTH = 64;
/** Written anew when it is longer than so many bytes, and than twice what was needed the last time. */
const LONGEST = 1024 * 1024;

/** The parts of stored plans, each a line `<digest> <base64>` of one file: plans that follow each other share most of them. */
export class PlanStore {
  readonly #path: string;
  readonly #file: AppendedFile;
  #places: Map<string, Place>;
  #baseline = 0;

  constructor(baseDir: string, durability: Durability = 'process') {
    this.#path = join(baseDir, 'plans.log');
    this.#places = placesIn(this.#path);
    this.#file = new AppendedFile(this.#path, durability);
  }

  /** Which of these are neither held nor given. */
  missing(chunks: readonly string[], given: ReadonlyMap<string, Uint8Array>): string[] {
    return chunks.filter((digest) => !this.#places.has(digest) && !given.has(digest));
  }

  write(given: ReadonlyMap<string, Uint8Array>): void {
    const fresh = [...given].filter(([digest]) => !this.#places.has(digest));
    if (fresh.length === 0) return;
    const lines = fresh.map(([digest, bytes]) => lineOf(digest, bytes));
    note(this.#places, lines, this.#file.append(lines.join('')));
  }

  /** The bytes of each, in order; undefined when one was changed or is gone: that one is missing from now on. */
  read(chunks: readonly string[]): readonly Buffer[] | undefined {
    let handle: number | undefined;
    try {
      if (chunks.length > 0) handle = openSync(this.#path, 'r');
    } catch {
      // None is there, then.
    }
    try {
      const parts = chunks.map((digest) => this.#part(digest, handle));
      return parts.every((part) => part !== undefined) ? parts : undefined;
    } finally {
      if (handle !== undefined) closeSync(handle);
    }
  }

  #part(digest: string, handle: number | undefined): Buffer | undefined {
    const place = this.#places.get(digest);
    const bytes = place === undefined || handle === undefined ? undefined : bytesAt(handle, place);
    if (bytes !== undefined && digestOf(bytes) === digest) return bytes;
    this.#places.delete(digest);
    return undefined;
  }

  /** Drops all but these once that is worth it. */
  collect(needed: () => Iterable<string>): void {
    if (this.#file.size <= Math.max(LONGEST, 2 * this.#baseline)) return;
    const lines: string[] = [];
    for (const digest of new Set(needed())) {
      const [bytes] = this.read([digest]) ?? [];
      if (bytes !== undefined) lines.push(lineOf(digest, bytes));
    }
    this.#file.replace(lines.join(''));
    this.#baseline = this.#file.size;
    this.#places = new Map();
    note(this.#places, lines, 0);
  }
}

/** Undefined where it cannot be read. */
function bytesAt(handle: number, { offset, length }: Place): Buffer | undefined {
  const line = Buffer.alloc(length);
  try {
    readSync(handle, line, 0, length, offset);
  } catch {
    return undefined;
  }
  return Buffer.from(line.toString('latin1', DIGEST_LENGTH + 1, length - 1), 'base64');
}

function lineOf(digest: string, bytes: Uint8Array): string {
  return `${digest} ${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')}\n`;
}

function note(places: Map<string, Place>, lines: readonly string[], start: number): void {
  let offset = start;
  for (const line of lines) {
    places.set(line.slice(0, DIGEST_LENGTH), { offset, length: line.length });
    offset += line.length;
  }
}

/** What a file holds, without keeping it in memory. Half a line at its end is none. */
function placesIn(path: string): Map<string, Place> {
  const places = new Map<string, Place>();
  let handle: number;
  try {
    handle = openSync(path, 'r');
  } catch {
    return places;
  }
  try {
    const buffer = Buffer.alloc(64 * 1024);
    let offset = 0;
    let start = 0;
    let digest = '';
    for (let read = readSync(handle, buffer); read > 0; read = readSync(handle, buffer)) {
      for (let at = 0; at < read;) {
        if (digest.length < DIGEST_LENGTH)
          digest += buffer.toString('latin1', at, Math.min(read, at + DIGEST_LENGTH - digest.length));
        const end = buffer.subarray(at, read).indexOf(10);
        if (end === -1) break;
        at += end + 1;
        places.set(digest, { offset: start, length: offset + at - start });
        start = offset + at;
        digest = '';
      }
      offset += read;
    }
  } finally {
    closeSync(handle);
  }
  return places;
}

import { MAIN_CONFIG, type Rendered, type Section } from '@haptic/core/contract';
import type { FilePatch } from '@haptic/agent/protocol';

/** Smaller files are sent whole. */
const SMALLEST = 4_096;

/** How a file is made from that of the same path in another set; undefined where it is better sent whole. */
export function filePatch(path: string, next: Rendered, before: Rendered): FilePatch | undefined {
  const old = before.plan.files.find((file) => file.path === path);
  const now = next.plan.files.find((file) => file.path === path);
  if (old === undefined || now === undefined || now.size < SMALLEST) return undefined;
  const bytes = next.files.read(path);
  const parts =
    path === MAIN_CONFIG
      ? sectionParts(bytes, next.plan.sections, before.plan.sections)
      : middlePart(bytes, before.files.read(path));
  const fresh = parts.reduce((sum, part) => sum + (typeof part === 'string' ? part.length : 0), 0);
  return fresh < now.size ? { from: old.digest, parts } : undefined;
}

/** What stands at the same place at both ends is kept. */
function middlePart(next: Uint8Array, before: Uint8Array): FilePatch['parts'] {
  const most = Math.min(next.length, before.length);
  let start = 0;
  while (start < most && next[start] === before[start]) start += 1;
  let end = 0;
  while (end < most - start && next[next.length - 1 - end] === before[before.length - 1 - end]) end += 1;
  const parts: FilePatch['parts'] = [
    [0, start],
    toBase64(next.subarray(start, next.length - end)),
    [before.length - end, end],
  ];
  return parts;
}

/** Sections are kept whole: those that both begin and end with, and those that stand anywhere between in both. */
function sectionParts(
  bytes: Uint8Array,
  next: readonly Section[],
  before: readonly Section[],
): FilePatch['parts'] {
  const stamped = isStamped(next) && isStamped(before) ? 1 : 0;
  const { start, end } = commonEnds(next, before, stamped);
  const middle = {
    from: lengthOf(before.slice(0, start)),
    sections: before.slice(start, before.length - end),
  };
  const offsets = new Map<string, number>();
  let offset = middle.from;
  for (const section of middle.sections) {
    offsets.set(keyOf(section), offset);
    offset += section.length;
  }
  const parts = new PatchParts(bytes);
  const stamp = lengthOf(next.slice(0, stamped));
  if (stamped > 0) parts.add(stamp, undefined);
  if (start > stamped) parts.add(lengthOf(next.slice(stamped, start)), lengthOf(before.slice(0, stamped)));
  for (const section of next.slice(start, next.length - end))
    parts.add(section.length, offsets.get(keyOf(section)));
  if (end > 0) parts.add(lengthOf(next.slice(next.length - end)), offset);
  return parts.end();
}

function lengthOf(sections: readonly Section[]): number {
  return sections.reduce((sum, { length }) => sum + length, 0);
}

/** The stamp stands first, and is another one whenever anything else is. */
function isStamped([first]: readonly Section[]): boolean {
  return first?.kind === 'stamp';
}

/** How many sections both begin and end with; `from`: so many at their beginning need not be alike. */
function commonEnds(
  next: readonly Section[],
  before: readonly Section[],
  from: number,
): { readonly start: number; readonly end: number } {
  const most = Math.min(next.length, before.length);
  const same = (a: Section, b: Section): boolean => a === b || keyOf(a) === keyOf(b);
  let start = from;
  while (start < most && same(next[start]!, before[start]!)) start += 1;
  let end = 0;
  while (end < most - start && same(next[next.length - 1 - end]!, before[before.length - 1 - end]!)) end += 1;
  return { start, end };
}

/** The stamp's digest is not that of its text, but says as well whether it is the same. */
function keyOf({ kind, name, digest }: Section): string {
  return `${kind}\0${name}\0${digest}`;
}

/** Parts that continue the one before are joined with it. */
class PatchParts {
  readonly #bytes: Uint8Array;
  readonly #parts: FilePatch['parts'] = [];
  #at = 0;
  #kept: { readonly from: number; length: number } | undefined;
  #fresh: { readonly from: number; length: number } | undefined;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** The next `length` bytes: those at `kept` of the old file, or new ones. */
  add(length: number, kept: number | undefined): void {
    if (kept === undefined) {
      this.#flushKept();
      this.#fresh ??= { from: this.#at, length: 0 };
      this.#fresh.length += length;
    } else {
      this.#flushFresh();
      if (this.#kept !== undefined && this.#kept.from + this.#kept.length !== kept) this.#flushKept();
      this.#kept ??= { from: kept, length: 0 };
      this.#kept.length += length;
    }
    this.#at += length;
  }

  end(): FilePatch['parts'] {
    this.#flushKept();
    this.#flushFresh();
    return this.#parts;
  }

  #flushKept(): void {
    if (this.#kept !== undefined) this.#parts.push([this.#kept.from, this.#kept.length]);
    this.#kept = undefined;
  }

  #flushFresh(): void {
    if (this.#fresh === undefined) return;
    const { from, length } = this.#fresh;
    this.#parts.push(toBase64(this.#bytes.subarray(from, from + length)));
    this.#fresh = undefined;
  }
}

export function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}

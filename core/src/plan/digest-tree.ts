import type { Digest } from '../contract/index.ts';
import type { Hash } from './hash.ts';
import { differing } from './window.ts';

interface Chunk {
  /** Index of the item behind it. */
  readonly end: number;
  readonly digest: Digest;
}

/** One item in so many ends a chunk, on average. */
const MEAN_LENGTH = 64;

/** Whether an item of this digest ends a chunk: what it is decides, not where it stands, so that others stay as they are. */
function endsChunk(digest: Digest): boolean {
  return Number.parseInt(digest.slice(-3), 16) % MEAN_LENGTH === 0;
}

/**
 * The digest of a list of digested items, as the root over chunks of it: a small change costs the chunks that it touches. Equal lists
 * have equal digests, whatever the list was before.
 */
export class DigestTree<T extends { readonly digest: Digest }> {
  readonly #hash: Hash;
  readonly #describe: (item: T) => string;
  #items: readonly T[] = [];
  #chunks: readonly Chunk[] = [];

  /** @param describe Everything of an item that counts. */
  constructor(hash: Hash, describe: (item: T) => string) {
    this.#hash = hash;
    this.#describe = describe;
  }

  digest(items: readonly T[]): Digest {
    const same = (a: T, b: T): boolean => a === b || this.#describe(a) === this.#describe(b);
    const { start, end } = differing(items, this.#items, same);
    if (start < Math.max(items.length, this.#items.length)) this.#chunks = this.#cut(items, start, end);
    this.#items = items;
    return this.#hash(this.#chunks.map(({ digest }) => digest).join('\n'));
  }

  #cut(items: readonly T[], start: number, end: number): readonly Chunk[] {
    const shift = items.length - this.#items.length;
    const chunks = this.#chunks.filter((chunk) => chunk.end <= start);
    const oldStarts = new Map(this.#chunks.map((_, index) => [this.#chunks[index - 1]?.end ?? 0, index]));
    let from = chunks.at(-1)?.end ?? 0;
    // The last item ends a chunk as well, which more items would prolong.
    if (from > 0 && !endsChunk(items[from - 1]!.digest)) {
      chunks.pop();
      from = chunks.at(-1)?.end ?? 0;
    }
    while (from < items.length) {
      const known = from >= end ? oldStarts.get(from - shift) : undefined;
      if (known !== undefined) {
        const rest = this.#chunks.slice(known);
        return [...chunks, ...rest.map((chunk) => ({ ...chunk, end: chunk.end + shift }))];
      }
      let to = from + 1;
      while (to < items.length && !endsChunk(items[to - 1]!.digest)) to++;
      chunks.push({ end: to, digest: this.#hash(items.slice(from, to).map(this.#describe).join('\n')) });
      from = to;
    }
    return chunks;
  }
}

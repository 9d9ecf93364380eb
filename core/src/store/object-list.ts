import type { KubeObject } from '../contract/index.ts';

/** Objects of one chunk at most: a change copies one chunk and the list of chunks. */
const CHUNK = 128;

function compareNames(aNamespace: string, aName: string, bNamespace: string, bName: string): number {
  if (aNamespace !== bNamespace) return aNamespace < bNamespace ? -1 : 1;
  if (aName !== bName) return aName < bName ? -1 : 1;
  return 0;
}

function compareTo(object: KubeObject, namespace: string, name: string): number {
  return compareNames(object.metadata.namespace ?? '', object.metadata.name, namespace, name);
}

type Chunk = readonly KubeObject[];

/** Index of the first item that is not below (namespace, name). */
function lowerBound(chunk: Chunk, namespace: string, name: string): number {
  let low = 0;
  let high = chunk.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareTo(chunk[middle]!, namespace, name) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * An immutable list of objects, ordered by namespace and name (code units). A changed copy shares all chunks but one with the
 * list that it came from, so old snapshots cost nothing and never change.
 */
export class ObjectList {
  static readonly empty = new ObjectList([], 0);

  readonly size: number;
  readonly #chunks: readonly Chunk[];
  #flat: readonly KubeObject[] | undefined;

  private constructor(chunks: readonly Chunk[], size: number) {
    this.#chunks = chunks;
    this.size = size;
  }

  get(namespace: string, name: string): KubeObject | undefined {
    const chunk = this.#chunks[this.#chunkOf(namespace, name)];
    const found = chunk?.[lowerBound(chunk, namespace, name)];
    return found !== undefined && compareTo(found, namespace, name) === 0 ? found : undefined;
  }

  /** With the object in its place, instead of the one of the same name where there is one. */
  with(object: KubeObject): ObjectList {
    const { namespace = '', name } = object.metadata;
    const index = Math.min(this.#chunkOf(namespace, name), Math.max(0, this.#chunks.length - 1));
    const chunk = this.#chunks[index] ?? [];
    const at = lowerBound(chunk, namespace, name);
    const present = chunk[at];
    const replaces = present !== undefined && compareTo(present, namespace, name) === 0;
    const next = chunk.toSpliced(at, replaces ? 1 : 0, object);
    const parts = next.length > CHUNK ? [next.slice(0, CHUNK / 2), next.slice(CHUNK / 2)] : [next];
    return new ObjectList(this.#chunks.toSpliced(index, 1, ...parts), this.size + (replaces ? 0 : 1));
  }

  without(namespace: string, name: string): ObjectList {
    const index = this.#chunkOf(namespace, name);
    const chunk = this.#chunks[index];
    if (chunk === undefined || this.get(namespace, name) === undefined) return this;
    const rest = chunk.toSpliced(lowerBound(chunk, namespace, name), 1);
    return new ObjectList(this.#replaceSmaller(index, rest), this.size - 1);
  }

  /** Frozen; the same array every time. */
  toArray(): readonly KubeObject[] {
    this.#flat ??= Object.freeze(this.#chunks.flat());
    return this.#flat;
  }

  /** Index of the chunk that holds or would hold the name; the number of chunks when it lies behind all of them. */
  #chunkOf(namespace: string, name: string): number {
    let low = 0;
    let high = this.#chunks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (compareTo(this.#chunks[middle]!.at(-1)!, namespace, name) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Puts a chunk that lost an item, joined with its successor where both are small: chunks must not silt up after deletes. */
  #replaceSmaller(index: number, chunk: Chunk): readonly Chunk[] {
    const successor = this.#chunks[index + 1];
    if (chunk.length === 0) return this.#chunks.toSpliced(index, 1);
    if (successor !== undefined && chunk.length + successor.length <= CHUNK / 2) {
      return this.#chunks.toSpliced(index, 2, [...chunk, ...successor]);
    }
    return this.#chunks.toSpliced(index, 1, chunk);
  }
}

/** A change copies one bucket and the array of buckets: cheap up to some hundred thousand keys. */
const BUCKETS = 512;

function bucketOf(key: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < key.length; at++) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193);
  return (hash ^ (hash >>> 15)) & (BUCKETS - 1);
}

type Bucket<V> = ReadonlyMap<string, V> | undefined;

/** An immutable map of texts whose changed copy shares all buckets but one with the map that it came from. */
export class BucketMap<V> {
  readonly #buckets: readonly Bucket<V>[];

  constructor(buckets: readonly Bucket<V>[] = Array.from<Bucket<V>>({ length: BUCKETS })) {
    this.#buckets = buckets;
  }

  get(key: string): V | undefined {
    return this.#buckets[bucketOf(key)]?.get(key);
  }

  with(key: string, value: V): BucketMap<V> {
    const index = bucketOf(key);
    return new BucketMap(this.#buckets.with(index, new Map(this.#buckets[index]).set(key, value)));
  }

  without(key: string): BucketMap<V> {
    const index = bucketOf(key);
    const bucket = new Map(this.#buckets[index]);
    bucket.delete(key);
    return new BucketMap(this.#buckets.with(index, bucket.size === 0 ? undefined : bucket));
  }
}

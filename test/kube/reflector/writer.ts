import { createObject, deleteObject, replaceObject, type KubeApi } from '@haptic/kube';
import type { KubeObject } from '@haptic/core/contract';

export const configMaps = { apiVersion: 'v1', resource: 'configmaps', kind: 'ConfigMap', namespaced: true };

/** Writes ConfigMaps at random and keeps a book of every content that ever was, by object. */
export class Writer {
  readonly #api: KubeApi;
  readonly #namespace: string;
  readonly #random: () => number;
  readonly #live = new Map<string, KubeObject>();
  /** `uid/value` of all writes, also of those whose answer was lost. */
  readonly written = new Set<string>();
  #value = 0;
  #created = 0;

  constructor(api: KubeApi, namespace: string, random: () => number) {
    this.#api = api;
    this.#namespace = namespace;
    this.#random = random;
  }

  get size(): number {
    return this.#live.size;
  }

  async createMany(count: number): Promise<void> {
    await inParallel(count, () => this.#create());
  }

  /** Half of them updates, the rest creations, deletions and updates of the ignored field. */
  async writeMany(count: number): Promise<void> {
    await inParallel(count, () => {
      const dice = this.#random();
      if (dice < 0.5) return this.#update('value');
      if (dice < 0.7) return this.#update('noise');
      if (dice < 0.85) return this.#create();
      return this.#delete();
    });
  }

  async updateMany(count: number, field: 'value' | 'noise'): Promise<void> {
    await inParallel(count, () => this.#update(field));
  }

  async #create(): Promise<void> {
    const name = `object-${(this.#created += 1)}`;
    const value = `${(this.#value += 1)}`;
    const data = { value, noise: '0', filler: 'x'.repeat(200) };
    const metadata = { namespace: this.#namespace, name };
    this.#keep(await createObject(this.#api, configMaps, { metadata, data }), value);
  }

  async #update(field: 'value' | 'noise'): Promise<void> {
    const object = this.#take();
    if (object === undefined) return;
    const data = object['data'] as { readonly value: string };
    const value = field === 'value' ? `${(this.#value += 1)}` : data.value;
    const changed = { ...object, data: { ...data, value, noise: `${this.#random()}` } };
    this.written.add(`${object.metadata.uid}/${value}`);
    this.#keep(await replaceObject(this.#api, this.#key(object), changed), value);
  }

  async #delete(): Promise<void> {
    const object = this.#take();
    if (object !== undefined) await deleteObject(this.#api, this.#key(object));
  }

  #keep(object: KubeObject, value: string): void {
    this.written.add(`${object.metadata.uid}/${value}`);
    this.#live.set(object.metadata.name, object);
  }

  /** A random one, which nobody else works on until it is kept again. */
  #take(): KubeObject | undefined {
    const index = Math.floor(this.#random() * this.#live.size);
    const [entry] = this.#live.entries().drop(index);
    if (entry === undefined) return undefined;
    this.#live.delete(entry[0]);
    return entry[1];
  }

  #key(object: KubeObject) {
    return { resource: configMaps, namespace: this.#namespace, name: object.metadata.name };
  }
}

async function inParallel(count: number, work: () => Promise<void>): Promise<void> {
  let left = count;
  const worker = async (): Promise<void> => {
    while ((left -= 1) >= 0) await work();
  };
  await Promise.all(Array.from({ length: 16 }, worker));
}

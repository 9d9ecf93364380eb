import type { KubeObject } from '@haptic/core/contract';
import { sameContent } from './arrival.ts';

export interface ObjectName {
  /** Empty for cluster-scoped kinds. */
  readonly namespace: string;
  readonly name: string;
}

/** What became different: at most one entry an object. */
export interface Changes {
  readonly upserts: readonly KubeObject[];
  readonly deletes: readonly ObjectName[];
}

/** `undefined` is a deletion. */
export type Update = readonly [name: ObjectName, object: KubeObject | undefined];

export function nameOf(object: KubeObject): ObjectName {
  return { namespace: object.metadata.namespace ?? '', name: object.metadata.name };
}

function keyOf({ namespace, name }: ObjectName): string {
  return `${namespace}/${name}`;
}

/** What has been handed on, so that an update which says nothing new is no change, and a new list is only its difference. */
export class KnownObjects {
  #objects = new Map<string, KubeObject>();

  get size(): number {
    return this.#objects.size;
  }

  list(): readonly KubeObject[] {
    return [...this.#objects.values()];
  }

  /** Takes updates in their order; what they amount to. */
  update(updates: readonly Update[]): Changes {
    const before = new Map<string, KubeObject | undefined>();
    for (const [name, object] of updates) {
      const key = keyOf(name);
      if (!before.has(key)) before.set(key, this.#objects.get(key));
      this.#set(key, object);
    }
    return this.#differences(before);
  }

  /** Takes a complete list: what it lacks is deleted. */
  replace(objects: readonly KubeObject[]): Changes {
    const before = new Map<string, KubeObject | undefined>(this.#objects);
    this.#objects = new Map();
    for (const object of objects) {
      const key = keyOf(nameOf(object));
      if (!before.has(key)) before.set(key, undefined);
      this.#objects.set(key, object);
    }
    return this.#differences(before);
  }

  #set(key: string, object: KubeObject | undefined): void {
    if (object === undefined) this.#objects.delete(key);
    else this.#objects.set(key, object);
  }

  /** An object that says nothing new keeps its identity: whoever compares by identity sees no change. */
  #differences(before: ReadonlyMap<string, KubeObject | undefined>): Changes {
    const upserts: KubeObject[] = [];
    const deletes: ObjectName[] = [];
    for (const [key, old] of before) {
      const now = this.#objects.get(key);
      if (now === undefined) {
        if (old !== undefined) deletes.push(nameOf(old));
      } else if (old !== undefined && sameContent(old, now)) {
        this.#objects.set(key, old);
      } else {
        upserts.push(now);
      }
    }
    return { upserts, deletes };
  }
}

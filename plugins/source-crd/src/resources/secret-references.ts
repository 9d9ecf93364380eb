import type { KubeObject, ObjectInterest } from '@haptic/core/contract';
import type { Filter } from './watch-pool.ts';

/** The server leaves these out: the history of Helm releases is large, and tokens are nobody's business. */
export const WANTED_SECRET_TYPES = 'type!=helm.sh/release.v1,type!=kubernetes.io/service-account-token';

const TLS = 'kubernetes.io/tls';

type Name = { readonly namespace?: string; readonly name: string };

/** What is kept, and the named ones among it: equal names keep equal Secrets. */
export interface SecretFilter extends Filter {
  readonly names: ReadonlySet<string>;
}

export function secretKey({ namespace = '', name }: Name): string {
  return `${namespace}/${name}`;
}

/** Secrets that watched objects name, counted by the objects that do. */
export class SecretReferences {
  readonly #byObject = new Map<string, readonly string[]>();
  readonly #count = new Map<string, number>();

  /** Takes in what an object names now; undefined: it is gone. True when a Secret is named that nobody named before. */
  update(
    watch: string,
    name: Name,
    object: KubeObject | undefined,
    interests: readonly ObjectInterest[],
  ): boolean {
    const key = `${watch} ${secretKey(name)}`;
    const names =
      object === undefined
        ? []
        : interests
            .flatMap((interest) => interest.secrets?.(object) ?? [])
            .map((secret) => secretKey(secret));
    const isNew = names.some((one) => !this.#count.has(one));
    for (const before of this.#byObject.get(key) ?? []) this.#add(before, -1);
    for (const now of names) this.#add(now, 1);
    if (names.length === 0) this.#byObject.delete(key);
    else this.#byObject.set(key, names);
    return isNew;
  }

  /** Forgets what the objects of a watch named: a complete list is taken in anew, and may lack some of them. */
  forget(watch: string): void {
    for (const [key, names] of this.#byObject) {
      if (!key.startsWith(`${watch} `)) continue;
      for (const name of names) this.#add(name, -1);
      this.#byObject.delete(key);
    }
  }

  some(condition: (name: string) => boolean): boolean {
    return this.#count.keys().some(condition);
  }

  /** By type, and by reference whatever the type is. */
  filter(): SecretFilter {
    const names = new Set(this.#count.keys());
    return {
      key: JSON.stringify([...names].toSorted()),
      names,
      keep: (object) => object['type'] === TLS || names.has(secretKey(object.metadata)),
    };
  }

  #add(name: string, by: 1 | -1): void {
    const count = (this.#count.get(name) ?? 0) + by;
    if (count === 0) this.#count.delete(name);
    else this.#count.set(name, count);
  }
}

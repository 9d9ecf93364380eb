type Name = { readonly namespace?: string; readonly name: string };

export function secretKey({ namespace = '', name }: Name): string {
  return `${namespace}/${name}`;
}

/** Secrets that watched objects name, counted by the objects that do. */
export class SecretReferences {
  readonly #byObject = new Map<string, readonly string[]>();
  readonly #count = new Map<string, number>();

  /** Takes in what an object names now. True when other Secrets are named than before. */
  update(watch: string, name: Name, names: readonly string[]): boolean {
    const key = `${watch} ${secretKey(name)}`;
    const before = this.#byObject.get(key) ?? [];
    const isNew = names.some((one) => !this.#count.has(one));
    for (const one of before) this.#add(one, -1);
    for (const one of names) this.#add(one, 1);
    if (names.length === 0) this.#byObject.delete(key);
    else this.#byObject.set(key, names);
    return isNew || before.some((one) => !this.#count.has(one));
  }

  /** Forgets what the objects of a watch named: a complete list is taken in anew, and may lack some of them. */
  forget(watch: string): void {
    for (const [key, names] of this.#byObject) {
      if (!key.startsWith(`${watch} `)) continue;
      for (const name of names) this.#add(name, -1);
      this.#byObject.delete(key);
    }
  }

  /** What an object names. */
  of(watch: string, name: Name): readonly string[] {
    return this.#byObject.get(`${watch} ${secretKey(name)}`) ?? [];
  }

  /** `namespace/name` of each. */
  names(): Iterable<string> {
    return this.#count.keys();
  }

  has(name: string): boolean {
    return this.#count.has(name);
  }

  #add(name: string, by: 1 | -1): void {
    const count = (this.#count.get(name) ?? 0) + by;
    if (count === 0) this.#count.delete(name);
    else this.#count.set(name, count);
  }
}

import type { Pass } from './writer.ts';

/** What was ours and is gone. While something may be late it may come back: then it is looked at once more, when nothing can be. */
export class Gone {
  readonly #keys = new Set<string>();

  /** Those of what is ours no longer that are to be looked at in this pass. */
  due<T>(lost: ReadonlyMap<string, T>, { thorough, mayBeLate }: Pass): readonly (readonly [string, T])[] {
    for (const key of this.#keys) if (thorough || !mayBeLate || !lost.has(key)) this.#keys.delete(key);
    return [...lost].filter(([key]) => !this.#keys.has(key));
  }

  /** It was seen to be gone. Whether it may be forgotten. */
  add(key: string, { mayBeLate }: Pass): boolean {
    if (mayBeLate) this.#keys.add(key);
    return !mayBeLate;
  }
}

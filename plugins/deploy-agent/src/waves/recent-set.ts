/** A set of at most so many words: the one that was added or asked for least recently goes first. */
export class RecentSet {
  readonly #most: number;
  /** In the order of their last use. */
  readonly #words = new Set<string>();

  constructor(most: number) {
    this.#most = most;
  }

  add(words: Iterable<string>): void {
    for (const word of words) this.#use(word);
    for (const oldest of this.#words) {
      if (this.#words.size <= this.#most) return;
      this.#words.delete(oldest);
    }
  }

  hasAll(words: readonly string[]): boolean {
    const has = words.every((word) => this.#words.has(word));
    if (has) for (const word of words) this.#use(word);
    return has;
  }

  #use(word: string): void {
    this.#words.delete(word);
    this.#words.add(word);
  }
}

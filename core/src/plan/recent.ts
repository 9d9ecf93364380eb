/** What was worked out from a text, for the texts of the last two turns: bounded by what renders use, whatever they are. */
export class Recent<V> {
  #current = new Map<string, V>();
  #previous = new Map<string, V>();

  get(text: string, build: () => V): V {
    const known = this.#current.get(text);
    if (known !== undefined) return known;
    const value = this.#previous.get(text) ?? build();
    this.#current.set(text, value);
    return value;
  }

  /** Called between renders: what was not asked for since the turn before is forgotten. */
  turn(): void {
    this.#previous = this.#current;
    this.#current = new Map();
  }
}

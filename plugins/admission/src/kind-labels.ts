const MOST = 32;
const KIND = /^[A-Za-z][A-Za-z0-9]{0,62}$/;

/** Kinds as labels of a metric. Whoever reaches the port may name any, so there is an end to how many are told apart. */
export class KindLabels {
  readonly #known = new Set<string>();

  of(kind: string): string {
    if (this.#known.has(kind)) return kind;
    if (this.#known.size >= MOST || !KIND.test(kind)) return 'other';
    this.#known.add(kind);
    return kind;
  }
}

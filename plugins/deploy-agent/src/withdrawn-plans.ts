/** More of them at once than a pod could carry. */
const MOST = 16;

/** Plans that one pod shall not keep on a judge's word, until it was brought to something newer. */
export class WithdrawnPlans {
  readonly #ids = new Set<string>();

  add(id: string): void {
    this.#ids.delete(id);
    this.#ids.add(id);
    for (const oldest of [...this.#ids].slice(0, -MOST)) this.#ids.delete(oldest);
  }

  /** It was taken back, or is deployed on purpose. */
  drop(id: string): void {
    this.#ids.delete(id);
  }

  clear(): void {
    this.#ids.clear();
  }

  /** The plan that has to go; undefined: what the pod carries may stay. */
  among(state: { readonly applied: string | null; readonly running: string | null }): string | undefined {
    const { applied, running } = state;
    return applied !== null && applied !== running && this.#ids.has(applied) ? applied : undefined;
  }
}

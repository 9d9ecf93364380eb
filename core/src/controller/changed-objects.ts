import type { StoreChange } from '../contract/index.ts';

/** Names in one log line; a relist can change a whole cluster. */
const LISTED = 20;

/** Names what changed since the last reconcile, for its log line. */
export class ChangedObjects {
  readonly #names = new Set<string>();
  #omitted = 0;

  add(changes: readonly StoreChange[]): void {
    for (const { watch, type, object } of changes) {
      const name = `${type} ${watch} ${object.namespace === '' ? '' : `${object.namespace}/`}${object.name}`;
      if (this.#names.size < LISTED || this.#names.has(name)) this.#names.add(name);
      else this.#omitted++;
    }
  }

  take(): readonly string[] {
    const more = this.#omitted === 0 ? [] : [`and ${this.#omitted} more`];
    const names = [...this.#names, ...more];
    this.#names.clear();
    this.#omitted = 0;
    return names;
  }
}

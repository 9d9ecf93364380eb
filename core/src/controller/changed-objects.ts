import type { Clock, StoreChange } from '../contract/index.ts';

/** Names in one log line; a relist can change a whole cluster. */
const LISTED = 20;

/** What a reconcile answers. */
export interface Cause {
  /** Names of changed objects, `updated ingresses default/shop`; none for a new configuration. */
  readonly changes: readonly string[];
  /** When the first of them was seen, by the monotonic clock. */
  readonly since: number;
}

/** Names what changed since the last reconcile, for its log line, and remembers when that began. */
export class ChangedObjects {
  readonly #names = new Set<string>();
  readonly #clock: Pick<Clock, 'now'>;
  #omitted = 0;
  #since: number | undefined;

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  add(changes: readonly StoreChange[]): void {
    this.#since ??= this.#clock.now();
    for (const { watch, type, object } of changes) {
      const name = `${type} ${watch} ${object.namespace === '' ? '' : `${object.namespace}/`}${object.name}`;
      if (this.#names.size < LISTED || this.#names.has(name)) this.#names.add(name);
      else this.#omitted++;
    }
  }

  take(): Cause {
    const more = this.#omitted === 0 ? [] : [`and ${this.#omitted} more`];
    const cause = { changes: [...this.#names, ...more], since: this.#since ?? this.#clock.now() };
    this.#names.clear();
    this.#omitted = 0;
    this.#since = undefined;
    return cause;
  }
}

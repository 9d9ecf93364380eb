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
  readonly #clock: Pick<Clock, 'now'>;
  #names = new Set<string>();
  #omitted = 0;
  #since: number | undefined;
  #taken:
    { readonly names: ReadonlySet<string>; readonly omitted: number; readonly since: number } | undefined;

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  add(changes: readonly StoreChange[]): void {
    this.#since ??= this.#clock.now();
    for (const { watch, type, object } of changes) {
      this.#list(`${type} ${watch} ${object.namespace === '' ? '' : `${object.namespace}/`}${object.name}`);
    }
  }

  take(): Cause {
    const names = this.#names;
    const taken = { names, omitted: this.#omitted, since: this.#since ?? this.#clock.now() };
    this.#taken = taken;
    this.#names = new Set();
    this.#omitted = 0;
    this.#since = undefined;
    const more = taken.omitted === 0 ? [] : [`and ${taken.omitted} more`];
    return { changes: [...names, ...more], since: taken.since };
  }

  /** Nothing came of what was taken last: the next one answers it as well. */
  putBack(): void {
    const taken = this.#taken;
    if (taken === undefined) return;
    this.#taken = undefined;
    const newer = this.#names;
    this.#names = new Set(taken.names);
    this.#omitted += taken.omitted;
    this.#since = taken.since;
    for (const name of newer) this.#list(name);
  }

  #list(name: string): void {
    if (this.#names.size < LISTED || this.#names.has(name)) this.#names.add(name);
    else this.#omitted++;
  }
}

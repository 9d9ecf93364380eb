import { Bug, type KubeObject, type StoreChange, type StoreSink, type StoreView } from '../contract/index.ts';
import { nextRevision, Snapshot } from './snapshot.ts';
import { WatchTable, type WatchShape } from './watch-table.ts';

type Listener = (changes: readonly StoreChange[]) => void;
type Step = { readonly table: WatchTable; readonly change?: StoreChange };

/** The watched objects of one configuration. Written by a resource source, read through snapshots. */
export class Store implements StoreSink {
  readonly #tables = new Map<string, WatchTable>();
  readonly #listeners = new Set<Listener>();
  #snapshot: Snapshot | undefined;

  constructor(watches: Readonly<Record<string, WatchShape>>) {
    for (const [name, shape] of Object.entries(watches))
      this.#tables.set(name, WatchTable.empty(name, shape));
  }

  /** Costs nothing while nothing changed, and never more than the number of watches. */
  view(): StoreView {
    this.#snapshot ??= new Snapshot(new Map(this.#tables), nextRevision());
    return this.#snapshot;
  }

  /** Watches that have not been filled yet. */
  get unsynced(): readonly string[] {
    return [...this.#tables].filter(([, table]) => !table.synced).map(([name]) => name);
  }

  /** Optional watches that the source cannot serve. */
  get notServedWatches(): readonly string[] {
    return [...this.#tables].filter(([, table]) => !table.served).map(([name]) => name);
  }

  /**
   * Told of every change of content, and with an empty list when a watch was filled for the first time or turned (not) served.
   * Returns how to stop. A listener must not throw: it would reach the source that reported the change.
   */
  onChange(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  replace(watch: string, objects: readonly KubeObject[]): void {
    const before = this.#table(watch);
    const steps = new Steps(before);
    const kept = new Set<string>();
    for (const object of objects) {
      steps.take(steps.table.upsert(object));
      kept.add(identity(object));
    }
    for (const object of before.list()) {
      if (!kept.has(identity(object))) steps.remove(object);
    }
    this.#commit(watch, steps.table.marked({ served: true, synced: true }), steps.changes);
  }

  apply(
    watch: string,
    changes: {
      readonly upserts: readonly KubeObject[];
      readonly deletes: readonly { namespace: string; name: string }[];
    },
  ): void {
    const steps = new Steps(this.#table(watch));
    for (const { namespace, name } of changes.deletes) steps.take(steps.table.remove(namespace, name));
    for (const object of changes.upserts) steps.take(steps.table.upsert(object));
    this.#commit(watch, steps.table, steps.changes);
  }

  notServed(watch: string): void {
    const steps = new Steps(this.#table(watch));
    for (const object of steps.table.list()) steps.remove(object);
    this.#commit(watch, steps.table.marked({ served: false, synced: true }), steps.changes);
  }

  #table(watch: string): WatchTable {
    const table = this.#tables.get(watch);
    if (table === undefined)
      throw new Bug(`a resource source filled the watch "${watch}", which nobody declared`);
    return table;
  }

  /** Nothing of a batch is seen before all of it is in place. */
  #commit(watch: string, table: WatchTable, changes: readonly StoreChange[]): void {
    if (table === this.#table(watch)) return;
    this.#tables.set(watch, table);
    this.#snapshot = undefined;
    for (const listener of this.#listeners) listener(changes);
  }
}

function identity({ metadata }: KubeObject): string {
  return `${metadata.namespace ?? ''}\0${metadata.name}`;
}

/** Runs steps on a table and collects what they changed. */
class Steps {
  table: WatchTable;
  readonly changes: StoreChange[] = [];

  constructor(table: WatchTable) {
    this.table = table;
  }

  take(step: Step): void {
    this.table = step.table;
    if (step.change !== undefined) this.changes.push(step.change);
  }

  remove({ metadata }: KubeObject): void {
    this.take(this.table.remove(metadata.namespace ?? '', metadata.name));
  }
}

import {
  Bug,
  didYouMean,
  Refused,
  type Fixtures,
  type KubeObject,
  type Proposal,
  type StoreView,
} from '../contract/index.ts';
import { WatchTable, type WatchShape } from './watch-table.ts';

type Tables = ReadonlyMap<string, WatchTable>;

let lastRevision = 0;

/** Over all stores of the process: equal revisions are equal snapshots, also across a change of the configuration. */
export function nextRevision(): number {
  return ++lastRevision;
}

function tableOf(tables: Tables, name: string): WatchTable {
  const table = tables.get(name);
  if (table !== undefined) return table;
  throw new Refused(`no watched resource is named "${name}"${didYouMean(name, tables.keys())}`);
}

/** One frozen state of all watches. */
export class Snapshot implements StoreView {
  readonly revision: number;
  readonly watches: readonly string[];
  readonly tables: Tables;

  constructor(tables: Tables, revision: number) {
    this.tables = tables;
    this.revision = revision;
    this.watches = Object.freeze([...tables.keys()].sort());
    Object.freeze(this);
  }

  watch(name: string): WatchTable {
    return tableOf(this.tables, name);
  }
}

/** A change that is laid over a view. */
export type Overlay =
  | Proposal
  /** Only its routes are to be there, answering 503. */
  | { readonly watch: string; readonly unavailable: KubeObject };

/** A view with changes laid over it; the view itself stays as it is. */
export function overlay(view: StoreView, proposals: readonly Overlay[]): StoreView {
  if (!(view instanceof Snapshot)) throw new Bug('only a snapshot of a store can be overlaid');
  const tables = new Map(view.tables);
  for (const proposal of proposals) {
    tables.set(proposal.watch, proposed(tableOf(tables, proposal.watch), proposal));
  }
  return new Snapshot(tables, view.revision);
}

function proposed(table: WatchTable, proposal: Overlay): WatchTable {
  if ('object' in proposal) return table.upsert(proposal.object).table;
  if ('unavailable' in proposal) return table.withUnavailable(proposal.unavailable);
  return table.remove(proposal.delete.namespace, proposal.delete.name).table;
}

/** A view of given objects instead of a live store; watches without objects are empty, those in `notServed` absent. */
export function fixtureView(
  watches: Readonly<Record<string, WatchShape>>,
  fixtures: Fixtures,
  notServed: readonly string[] = [],
): StoreView {
  const tables = new Map<string, WatchTable>();
  for (const [name, shape] of Object.entries(watches)) {
    tables.set(
      name,
      WatchTable.empty(name, shape).marked({ served: !notServed.includes(name), synced: true }),
    );
  }
  for (const [name, objects] of Object.entries(fixtures)) {
    for (const object of objects) tables.set(name, tableOf(tables, name).upsert(object).table);
  }
  return new Snapshot(tables, nextRevision());
}

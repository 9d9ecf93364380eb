import { Bug, type StoreView } from '../contract/index.ts';
import { nextRevision, overlay, Snapshot, type Overlay } from './snapshot.ts';
import type { WatchTable } from './watch-table.ts';

function sameProposals(a: readonly Overlay[], b: readonly Overlay[]): boolean {
  return a.length === b.length && a.every((proposal, index) => sameProposal(proposal, b[index]!));
}

function sameProposal(a: Overlay, b: Overlay): boolean {
  if ('object' in a) return 'object' in b && a.object === b.object;
  if ('unavailable' in a) return 'unavailable' in b && a.unavailable === b.unavailable;
  return 'delete' in b && a.delete.name === b.delete.name && a.delete.namespace === b.delete.namespace;
}

/** Overlays that stay for long: what did not change below or in them is the identical watch, so renders find it unchanged. */
export class Substitutions {
  readonly #tables = new Map<
    string,
    { readonly below: WatchTable; readonly proposals: readonly Overlay[]; readonly table: WatchTable }
  >();
  #last:
    | { readonly below: StoreView; readonly proposals: readonly Overlay[]; readonly view: StoreView }
    | undefined;

  /** The view itself where nothing is proposed. */
  apply(view: StoreView, proposals: readonly Overlay[]): StoreView {
    if (proposals.length === 0) return view;
    const last = this.#last;
    if (last?.below === view && sameProposals(last.proposals, proposals)) return last.view;
    if (!(view instanceof Snapshot)) throw new Bug('only a snapshot of a store can be substituted');
    const tables = new Map(view.tables);
    for (const [watch, own] of Map.groupBy(proposals, (proposal) => proposal.watch)) {
      tables.set(watch, this.#table(view, watch, own));
    }
    const substituted = new Snapshot(tables, nextRevision());
    this.#last = { below: view, proposals, view: substituted };
    return substituted;
  }

  #table(view: Snapshot, watch: string, proposals: readonly Overlay[]): WatchTable {
    const below = view.watch(watch);
    const known = this.#tables.get(watch);
    if (known?.below === below && sameProposals(known.proposals, proposals)) return known.table;
    const table = (overlay(view, proposals) as Snapshot).watch(watch);
    this.#tables.set(watch, { below, proposals, table });
    return table;
  }
}

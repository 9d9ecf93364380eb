import { coveringKeys, type HostPattern } from './host.ts';
import type { Listeners } from './listeners.ts';
import type { MapEntry } from './map-entry.ts';
import { sameItems } from './same-items.ts';
import type { TableCache } from './table-cache.ts';
import type { Table } from './table.ts';

/** All hosts share the settings of the TLS handshake. */
const sharedContext = '-';
/** Behind the context: paths that can be read in two ways are refused. */
const securityMark = '!';

/** A line of `hosts.map`: the tables that a request for the host goes through, from most to least specific. */
export interface HostTable {
  readonly host: { readonly portKey: string; readonly pattern: HostPattern };
  readonly tables: readonly Table[];
  readonly entry: MapEntry;
}

/** Builds the lines of `hosts.map`, and keeps those whose tables are the identical ones. */
export class HostTables {
  #before = new Map<string, HostTable>();

  build(
    hosts: ReadonlyMap<string, HostTable['host']>,
    own: ReadonlyMap<string, Table>,
    listeners: Listeners,
    cache: TableCache,
  ): readonly HostTable[] {
    const now = new Map<string, HostTable>();
    for (const [key, host] of hosts) {
      const tables = tablesOf(host, own, listeners, cache);
      const kept = this.#before.get(key);
      const same = kept !== undefined && sameItems(kept.tables, tables);
      now.set(key, same ? kept : { host, tables, entry: entryOf(key, own.get(key), tables) });
    }
    this.#before = now;
    return [...now.values()];
  }
}

/** The host's own table, then less specific ones as far as its listener and its namespaces reach. */
function tablesOf(
  { portKey, pattern }: HostTable['host'],
  own: ReadonlyMap<string, Table>,
  listeners: Listeners,
  cache: TableCache,
): readonly Table[] {
  const [first = '', ...wider] = coveringKeys(pattern).map((key) => `${portKey}/${key}`);
  const mine = own.get(first);
  const tables = mine === undefined ? [] : [mine];
  const owner = listeners.ownerOf(portKey, pattern);
  // The listener's own host is where its hosts end: what is less specific belongs to another listener.
  const border = wider.indexOf(owner ?? '');
  for (const key of first === owner ? [] : wider.slice(0, border + 1)) {
    const table = own.get(key);
    const visible = table && cache.visible(table, mine?.namespaces ?? new Set());
    if (visible !== undefined) tables.push(visible);
  }
  return tables;
}

function entryOf(key: string, own: Table | undefined, tables: readonly Table[]): MapEntry {
  const mark = tables.some(({ security }) => security) ? securityMark : '';
  const value = [`${sharedContext}${mark}`, ...tables.map(({ name }) => name)].join('|');
  const objects = new Set(own?.routes.map(({ route }) => route.origin.object));
  return { key, value, objects: [...objects] };
}

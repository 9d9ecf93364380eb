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
interface HostTable {
  readonly tables: readonly Table[];
  readonly entry: MapEntry;
}

/** Builds the lines of `hosts.map`, and keeps those whose tables are the identical ones. */
export class HostTables {
  #before = new Map<string, HostTable>();

  /** A line for every host with routes, and for the hosts of listeners. */
  build(own: ReadonlyMap<string, Table>, listeners: Listeners, cache: TableCache): readonly MapEntry[] {
    const now = new Map<string, HostTable>();
    const known = { own, listeners, cache, widest: widestOf(own) };
    for (const [key, table] of own) now.set(key, this.#line(key, tablesOf(table.covering, table, known)));
    for (const [key, covering] of listeners.all) {
      if (!own.has(key)) now.set(key, this.#line(key, tablesOf(covering, undefined, known)));
    }
    this.#before = now;
    const entries: MapEntry[] = [];
    for (const { entry } of now.values()) entries.push(entry);
    return entries;
  }

  #line(key: string, tables: readonly Table[]): HostTable {
    const kept = this.#before.get(key);
    if (kept !== undefined && sameItems(kept.tables, tables)) return kept;
    return { tables, entry: entryOf(key, tables) };
  }
}

interface Known {
  readonly own: ReadonlyMap<string, Table>;
  readonly listeners: Listeners;
  readonly cache: TableCache;
  /** Names of tables that cover more than one host. */
  readonly widest: ReadonlySet<string>;
}

function widestOf(own: ReadonlyMap<string, Table>): ReadonlySet<string> {
  const wide = new Set<string>();
  for (const name of own.keys()) if (name.includes('/*') || name.includes('/~')) wide.add(name);
  return wide;
}

/** The host's own table, then less specific ones as far as its listener and its namespaces reach. */
function tablesOf(covering: readonly string[], mine: Table | undefined, known: Known): readonly Table[] {
  const { own, listeners, cache, widest } = known;
  const tables = mine === undefined ? [] : [mine];
  if (widest.size === 0) return tables;
  const owner = listeners.ownerOf(covering);
  // The listener's own host is where its hosts end: what is less specific belongs to another listener.
  const border = covering.indexOf(owner ?? '');
  for (let index = 1; index <= border; index += 1) {
    const key = covering[index] ?? '';
    const table = widest.has(key) ? own.get(key) : undefined;
    const visible = table && cache.visible(table, mine?.namespaces ?? nobody);
    if (visible !== undefined) tables.push(visible);
  }
  return tables;
}

const nobody: ReadonlySet<string> = new Set();

function entryOf(key: string, tables: readonly Table[]): MapEntry {
  const mark = tables.some(({ security }) => security) ? securityMark : '';
  const value = [`${sharedContext}${mark}`, ...tables.map(({ name }) => name)].join('|');
  const objects = tables[0]?.name === key ? tables[0].routes.map(({ route }) => route.origin.object) : [];
  return { key, value, objects: [...new Set(objects)] };
}

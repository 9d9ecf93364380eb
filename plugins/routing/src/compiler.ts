import { HostTables } from './host-tables.ts';
import { listenerKey, Listeners } from './listeners.ts';
import { joinEntries, uniqueEntries, type MapEntry } from './map-entry.ts';
import { prepareRoute, type PreparedRoute } from './prepared-route.ts';
import type { Listener, Route } from './route.ts';
import { describeRoute, type Shadowed } from './shadow.ts';
import { TableCache } from './table-cache.ts';
import type { Table } from './table.ts';
import type { Tenancy } from './tenancy.ts';
import { keepUses, mergeUses, type UsedBackend } from './used-backend.ts';

export interface RoutesToCompile {
  readonly routes: readonly Route[];
  readonly listeners: readonly Listener[];
  readonly tenancy: Tenancy['hosts'];
}

/** The entries of the maps, and what else the frontend needs. Parts that did not change are the identical objects. */
export interface CompiledRoutes {
  readonly hosts: readonly MapEntry[];
  readonly paths: readonly MapEntry[];
  readonly lists: readonly MapEntry[];
  readonly weights: readonly MapEntry[];
  readonly redirects: readonly MapEntry[];
  readonly ids: readonly MapEntry[];
  readonly backends: readonly UsedBackend[];
  readonly shadowed: readonly Shadowed[];
  readonly tables: readonly Table[];
}

/** The routes of each table, and those that can have none. */
interface Arrivals {
  readonly tables: ReadonlyMap<string, readonly PreparedRoute[]>;
  readonly shadowed: readonly Shadowed[];
}

/**
 * Compiles routes to map entries. The result depends on the input alone; what is kept from one call to the next only saves
 * work: a table is compiled again when one of its routes changed.
 */
export class RouteCompiler {
  readonly #tables = new TableCache();
  readonly #hosts = new HostTables();
  #backends: ReadonlyMap<string, UsedBackend> = new Map();

  compile({ routes, listeners, tenancy }: RoutesToCompile): CompiledRoutes {
    const served = new Listeners([...listeners, ...listenersOf(routes)]);
    const arrivals = arrivalsOf(routes, served);
    this.#tables.begin();
    const own = new Map<string, Table>();
    for (const [name, candidates] of arrivals.tables) {
      own.set(name, this.#tables.owned(name, candidates, tenancy));
    }
    const hosts = this.#hosts.build(own, served, this.#tables);
    const hostTables = [...own.values()];
    const tables = [...hostTables, ...this.#tables.partial()];
    this.#tables.end();
    const routeIds = uniqueEntries(tables.map((table) => table.routeIds));
    return {
      hosts,
      paths: joinEntries(tables.map(({ paths }) => paths)),
      lists: uniqueEntries(tables.map(({ lists }) => lists)),
      weights: uniqueEntries(tables.map(({ weights }) => weights)),
      redirects: uniqueEntries(tables.map(({ redirects }) => redirects)),
      ids: joinEntries([...tables.map(({ keyIds }) => keyIds), routeIds]),
      backends: this.#usedBackends(hostTables),
      shadowed: [...arrivals.shadowed, ...hostTables.flatMap(({ shadowed }) => shadowed)],
      tables,
    };
  }

  #usedBackends(tables: readonly Table[]): readonly UsedBackend[] {
    const backends = mergeUses(tables.map((table) => table.backends));
    keepUses(this.#backends, backends);
    this.#backends = backends;
    return [...backends.values()];
  }
}

function listenersOf(routes: readonly Route[]): ReadonlySet<Listener> {
  const listeners = new Set<Listener>();
  for (const { listener } of routes) listeners.add(listener);
  return listeners;
}

/** Sorts routes to the tables of their hosts; those that can have no table are reported. */
function arrivalsOf(routes: readonly Route[], listeners: Listeners): Arrivals {
  const tables = new Map<string, PreparedRoute[]>();
  const shadowed: Shadowed[] = [];
  for (const route of routes) {
    const prepared = prepareRoute(route);
    if ('problem' in prepared) {
      shadowed.push(invalid(route, prepared.problem));
      continue;
    }
    if (listeners.ownerOf(prepared.covering) !== listenerKey(route.listener)) {
      shadowed.push(ofOtherListener(route));
      continue;
    }
    const table = tables.get(prepared.table);
    if (table === undefined) tables.set(prepared.table, [prepared]);
    else table.push(prepared);
  }
  return { tables, shadowed };
}

function invalid(route: Route, problem: string): Shadowed {
  const message = `${describeRoute(route)} gets no traffic: ${problem}`;
  return { origin: route.origin, reason: 'RouteInvalid', message };
}

function ofOtherListener(route: Route): Shadowed {
  const message = `${describeRoute(route)} gets no traffic: a more specific listener of its port serves the host`;
  return { origin: route.origin, reason: 'OtherListener', message };
}

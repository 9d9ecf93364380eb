import type { ObjectRef } from '@haptic/core/contract';
import { HostTables, type HostTable } from './host-tables.ts';
import { listenerKey, Listeners } from './listeners.ts';
import { uniqueEntries, type MapEntry } from './map-entry.ts';
import { prepareRoute, type PreparedRoute } from './prepared-route.ts';
import type { BackendRef, Listener, Route } from './route.ts';
import { sameItems } from './same-items.ts';
import { describeRoute, type Shadowed } from './shadow.ts';
import { TableCache } from './table-cache.ts';
import type { Table } from './table.ts';
import type { Tenancy } from './tenancy.ts';

export interface RoutesToCompile {
  readonly routes: readonly Route[];
  readonly listeners: readonly Listener[];
  readonly tenancy: Tenancy['hosts'];
}

/** A backend that some route leads to, and the objects that say so. */
export interface UsedBackend {
  readonly name: string;
  readonly ref: BackendRef;
  readonly objects: readonly ObjectRef[];
}

/** The entries of the maps, and what else the frontend needs. Parts that did not change are the identical objects. */
export interface CompiledRoutes {
  readonly hosts: readonly MapEntry[];
  readonly paths: readonly MapEntry[];
  readonly lists: readonly MapEntry[];
  readonly weights: readonly MapEntry[];
  readonly ids: readonly MapEntry[];
  readonly backends: readonly UsedBackend[];
  readonly shadowed: readonly Shadowed[];
  readonly tables: readonly Table[];
}

/** Where requests of one host pattern arrive, and the routes that may answer them. */
interface Arrivals {
  readonly hosts: ReadonlyMap<string, { readonly listener: Listener; readonly routes: PreparedRoute[] }>;
  readonly shadowed: readonly Shadowed[];
}

/**
 * Compiles routes to map entries. The result depends on the input alone; what is kept from one call to the next only saves
 * work: a table is compiled again when one of its routes changed.
 */
export class RouteCompiler {
  readonly #tables = new TableCache();
  readonly #hostTables = new HostTables();
  #backends = new Map<string, UsedBackend>();

  compile({ routes, listeners, tenancy }: RoutesToCompile): CompiledRoutes {
    const served = new Listeners([...listeners, ...new Set(routes.map(({ listener }) => listener))]);
    const arrivals = arrivalsOf(routes, served);
    this.#tables.begin();
    const own = new Map<string, Table>();
    for (const [key, { routes: candidates }] of arrivals.hosts) {
      own.set(key, this.#tables.owned(key, candidates, tenancy));
    }
    const hosts = this.#hostTables.build(patternsOf(arrivals, served), own, served, this.#tables);
    const tables = [...own.values(), ...this.#tables.partial()];
    this.#tables.end();
    return {
      hosts: hosts.map(({ entry }) => entry),
      paths: tables.flatMap(({ paths }) => paths),
      lists: uniqueEntries(tables.map(({ lists }) => lists)),
      weights: uniqueEntries(tables.map(({ weights }) => weights)),
      ids: uniqueEntries(tables.map(({ ids }) => ids)),
      backends: this.#usedBackends(own.values()),
      shadowed: [...arrivals.shadowed, ...[...own.values()].flatMap(({ shadowed }) => shadowed)],
      tables,
    };
  }

  #usedBackends(tables: Iterable<Table>): readonly UsedBackend[] {
    const found = new Map<string, { readonly ref: BackendRef; readonly objects: Set<ObjectRef> }>();
    for (const { routes } of tables) {
      for (const { backends, route } of routes) {
        for (const { name, ref } of backends) {
          const used = found.get(name);
          if (used === undefined) found.set(name, { ref, objects: new Set([route.origin.object]) });
          else used.objects.add(route.origin.object);
        }
      }
    }
    const before = this.#backends;
    this.#backends = new Map();
    for (const [name, { ref, objects }] of found) {
      const kept = before.get(name);
      const list = [...objects];
      this.#backends.set(
        name,
        kept !== undefined && sameItems(kept.objects, list) ? kept : { name, ref, objects: list },
      );
    }
    return [...this.#backends.values()];
  }
}

/** Sorts routes to the tables of their hosts; those that can have no table are reported. */
function arrivalsOf(routes: readonly Route[], listeners: Listeners): Arrivals {
  const hosts = new Map<string, { readonly listener: Listener; readonly routes: PreparedRoute[] }>();
  const shadowed: Shadowed[] = [];
  for (const route of routes) {
    const prepared = prepareRoute(route);
    if ('problem' in prepared) {
      shadowed.push(invalid(route, prepared.problem));
      continue;
    }
    const { listener } = route;
    if (listeners.ownerOf(listener.portKey, route.host) !== listenerKey(listener)) {
      shadowed.push(ofOtherListener(route));
      continue;
    }
    const arrival = hosts.get(prepared.table);
    if (arrival === undefined) hosts.set(prepared.table, { listener, routes: [prepared] });
    else arrival.routes.push(prepared);
  }
  return { hosts, shadowed };
}

/** All host keys that need an entry: those with routes, and those of listeners. */
function patternsOf(arrivals: Arrivals, listeners: Listeners): ReadonlyMap<string, HostTable['host']> {
  const patterns = new Map<string, HostTable['host']>();
  for (const [key, { listener, routes }] of arrivals.hosts) {
    const [first] = routes;
    if (first !== undefined) patterns.set(key, { portKey: listener.portKey, pattern: first.route.host });
  }
  for (const listener of listeners.all) {
    const key = listenerKey(listener);
    if (!patterns.has(key)) patterns.set(key, { portKey: listener.portKey, pattern: listener.host });
  }
  return patterns;
}

function invalid(route: Route, problem: string): Shadowed {
  const message = `${describeRoute(route)} gets no traffic: ${problem}`;
  return { origin: route.origin, reason: 'RouteInvalid', message };
}

function ofOtherListener(route: Route): Shadowed {
  const message = `${describeRoute(route)} gets no traffic: a more specific listener of its port serves the host`;
  return { origin: route.origin, reason: 'OtherListener', message };
}

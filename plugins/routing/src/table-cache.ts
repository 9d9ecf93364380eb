import type { PreparedRoute } from './prepared-route.ts';
import { sameItems } from './same-items.ts';
import { compileTable, type Table } from './table.ts';
import { ownedRoutes, visibleRoutes, type Tenancy } from './tenancy.ts';

interface Cached {
  readonly routes: readonly PreparedRoute[];
  readonly tenancy: Tenancy['hosts'];
  readonly table: Table;
}

/** Tables of the last compilation; one whose routes are the identical ones is used again. */
export class TableCache {
  #before = new Map<string, Cached>();
  #now = new Map<string, Cached>();
  readonly #partial = new Map<string, Table>();

  begin(): void {
    this.#now = new Map();
    this.#partial.clear();
  }

  /** Forgets tables that were not asked for since `begin`. */
  end(): void {
    this.#before = this.#now;
  }

  /** The table of a host, with the routes that tenancy allows on it. */
  owned(name: string, routes: readonly PreparedRoute[], tenancy: Tenancy['hosts']): Table {
    return this.#table(name, routes, tenancy, () => {
      const owned = ownedRoutes(routes, tenancy);
      const table = compileTable(name, owned.routes);
      return { ...table, shadowed: [...owned.shadowed, ...table.shadowed] };
    });
  }

  /** What of a table those see who fall from a host of these namespaces; undefined where that is nothing. */
  visible(table: Table, namespaces: ReadonlySet<string>): Table | undefined {
    const { name, routes } = visibleRoutes(table, namespaces);
    if (routes.length === 0) return undefined;
    if (name === table.name) return table;
    const partial =
      this.#partial.get(name) ?? this.#table(name, routes, 'shared', () => compileTable(name, routes));
    this.#partial.set(name, partial);
    return partial;
  }

  /** The tables that `visible` made since `begin`. */
  partial(): Iterable<Table> {
    return this.#partial.values();
  }

  #table(
    name: string,
    routes: readonly PreparedRoute[],
    tenancy: Tenancy['hosts'],
    compile: () => Table,
  ): Table {
    const kept = this.#before.get(name);
    const same = kept !== undefined && kept.tenancy === tenancy && sameItems(kept.routes, routes);
    const cached = same ? kept : { routes, tenancy, table: compile() };
    this.#now.set(name, cached);
    return cached.table;
  }
}

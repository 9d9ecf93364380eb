import { z } from 'zod';
import { compareAge } from './precedence.ts';
import type { PreparedRoute } from './prepared-route.ts';
import { describeRoute, type Shadowed } from './shadow.ts';
import type { Table } from './table.ts';

export const tenancySchema = z
  .strictObject({
    /** `shared`: namespaces may add paths to one another's hosts. `strict`: the oldest namespace owns a host. */
    hosts: z.enum(['shared', 'strict']).default('shared'),
  })
  .prefault({});
export type Tenancy = z.output<typeof tenancySchema>;

/**
 * In strict tenancy, the routes of a host that its owner wrote: the namespace of the oldest one. Rules without a host belong
 * to nobody, and who may attach to a Gateway's listener is the Gateway's decision.
 */
export function ownedRoutes(
  routes: readonly PreparedRoute[],
  tenancy: Tenancy['hosts'],
): { readonly routes: readonly PreparedRoute[]; readonly shadowed: readonly Shadowed[] } {
  const contested = routes.filter(isOwned);
  const [oldest] = contested.toSorted(compareAge);
  if (tenancy === 'shared' || oldest === undefined) return { routes, shadowed: [] };
  const isForeign = (candidate: PreparedRoute): boolean =>
    isOwned(candidate) && namespaceOf(candidate) !== namespaceOf(oldest);
  return {
    routes: routes.filter((candidate) => !isForeign(candidate)),
    shadowed: contested.filter(isForeign).map((foreign) => hostOwned(foreign, oldest)),
  };
}

function isOwned({ route }: PreparedRoute): boolean {
  return route.host.kind !== 'any' && route.listener.fallThrough === 'namespace';
}

function hostOwned({ route }: PreparedRoute, owner: PreparedRoute): Shadowed {
  const rule = describeRoute(route);
  const message = `${rule} gets no traffic: the host belongs to namespace ${namespaceOf(owner)}, which had it first`;
  return { origin: route.origin, reason: 'HostOwned', message, by: owner.route.origin };
}

/** A less specific table, as requests see it that fall from a host where `namespaces` have rules. */
export function visibleRoutes(
  table: Table,
  namespaces: ReadonlySet<string>,
): { readonly name: string; readonly routes: readonly PreparedRoute[] } {
  const routes = table.routes.filter(
    (candidate) =>
      candidate.route.listener.fallThrough === 'listener' || namespaces.has(namespaceOf(candidate)),
  );
  if (routes.length === table.routes.length) return { name: table.name, routes };
  const seen = [...table.namespaces].filter((namespace) => namespaces.has(namespace)).toSorted();
  return { name: `${table.name}+${seen.join('+')}`, routes };
}

function namespaceOf({ route }: PreparedRoute): string {
  return route.origin.object.namespace;
}

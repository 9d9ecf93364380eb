import { serviceKey, type GlobalInput, type ServiceKey } from '@haptic/core/contract';
import type { HostPattern } from './host.ts';
import type { Destination, PathPattern, Route, Target } from './route.ts';
import type { RouteSource } from './service.ts';

/** One route as people read it. */
export interface ServedRoute {
  /** `*` for every host. */
  readonly host: string;
  /** `/cart` exact, `/cart*` and what is below it, `~ /v[0-9]+` a regex. */
  readonly path: string;
  /** `default/shop:80`, `503`, or several with their shares. */
  readonly to: string;
  /** `Ingress default/shop`. */
  readonly from: string;
}

/** What the route sources make of objects, for programs that show it. */
export interface ServedRoutes {
  list(input: GlobalInput): readonly ServedRoute[];
}
export const SERVED_ROUTES: ServiceKey<ServedRoutes> = serviceKey('served-routes');

/** Lists routes by host and path; several listeners of one route are one line. */
export function servedRoutes(sources: ReadonlyMap<string, RouteSource>): ServedRoutes {
  return {
    list(input) {
      const routes = [...sources.values()].flatMap((source) => source.routes(input).routes);
      const lines = new Map(routes.map((route) => [lineKey(route), servedRoute(route)]));
      return [...lines.values()].toSorted((a, b) => compare(a.host, b.host) || compare(a.path, b.path));
    },
  };
}

function lineKey({ origin, host, path }: Route): string {
  return JSON.stringify([origin.object, origin.rule, origin.index, host, path]);
}

function servedRoute({ host, path, targets, origin }: Route): ServedRoute {
  return {
    host: hostText(host),
    path: pathText(path),
    to: targetsText(targets),
    from: `${origin.object.kind} ${origin.object.namespace}/${origin.object.name}`,
  };
}

function hostText(host: HostPattern): string {
  if (host.kind === 'any') return '*';
  return host.kind === 'exact' ? host.name : `*.${host.parent}`;
}

function pathText({ kind, value }: PathPattern): string {
  if (kind === 'regex') return `~ ${value}`;
  return kind === 'exact' ? value : `${value}*`;
}

function targetsText(targets: readonly Target[]): string {
  if (targets.length === 0) return '500';
  if (targets.length === 1) return destinationText(targets[0]!.to);
  return targets.map(({ to, weight }) => `${destinationText(to)} (${weight})`).join(', ');
}

function destinationText(to: Destination): string {
  if (to.kind === 'status') return String(to.status);
  if (to.kind === 'redirect') return `${to.redirect.code} redirect`;
  const { namespace, service, port } = to.backend;
  return `${namespace}/${service}:${port}`;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

import { nearest, type KubeObject, type ObjectProblem, type WatchContent } from '@haptic/core/contract';
import { isClusterScoped, pluralOf, ROUTE_KINDS } from './kinds.ts';

function groupOf(apiVersion: string): string {
  return apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';
}

/**
 * An object that nothing watches is none of ours, unless its kind is nearly a watched one of the same group: ignoring `Ingres`
 * would take away the routes of the Ingress that it was.
 */
export function misspeltKind(
  { apiVersion, kind }: KubeObject,
  watches: readonly WatchContent[],
): readonly ObjectProblem[] {
  if (ROUTE_KINDS.includes(kind) || isClusterScoped(kind)) return [];
  const group = groupOf(apiVersion);
  const resources = watches
    .filter(({ apiVersions }) => apiVersions.some((watched) => groupOf(watched) === group))
    .map(({ resources }) => resources);
  const meant = nearest(
    kind,
    ROUTE_KINDS.filter((known) => resources.includes(pluralOf(known))),
  );
  if (meant === undefined) return [];
  return [{ path: ['kind'], message: `${apiVersion} has no such kind, did you mean "${meant}"?` }];
}

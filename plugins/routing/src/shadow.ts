import { hostKey } from './host.ts';
import { quoted } from './quoted.ts';
import type { Route, RouteOrigin } from './route.ts';

export type ShadowReason =
  /** An older route has the same host, path and conditions. */
  | 'RouteShadowed'
  /** `tenancy.hosts` is strict and another namespace had the host first. */
  | 'HostOwned'
  /** A more specific listener of the same port serves the host. */
  | 'OtherListener'
  /** It could not be written as a map entry. */
  | 'RouteInvalid'
  /** More rules for one host and path than a request may have to look through. */
  | 'TooManyRules';

/** A route that gets no traffic, why, and which route is in its way. */
export interface Shadowed {
  readonly origin: RouteOrigin;
  readonly reason: ShadowReason;
  readonly message: string;
  readonly by?: RouteOrigin;
}

/** `namespace/name/rule`: how logs name a route. */
export function routeName({ object, rule }: RouteOrigin): string {
  return `${object.namespace}/${object.name}/${rule}`;
}

/** `Ingress namespace/name rule 0 ("app.test/path")`: how messages name a route. */
export function describeRoute({ origin, host, path }: Route): string {
  const { object, rule } = origin;
  const name = host.kind === 'any' ? '' : hostKey(host).replace('~.', '*.');
  return `${object.kind} ${object.namespace}/${object.name} rule ${rule} (${quoted(`${name}${path.value}`)})`;
}

import { serviceKey, type GlobalInput, type ObjectRef, type ServiceKey } from '@haptic/core/contract';
import type { Listener, Route } from './route.ts';

/** Something about an object that its owner should know; becomes an Event. */
export interface RouteWarning {
  readonly object: ObjectRef;
  /** In the manner of Kubernetes: `ServiceMissing`. */
  readonly reason: string;
  readonly message: string;
}

/** What one source contributes to a render. Unchanged routes must be the identical objects of the render before. */
export interface RouteSet {
  readonly routes: readonly Route[];
  /** Also those without a route: a request for their hosts falls no further. */
  readonly listeners: readonly Listener[];
  readonly warnings: readonly RouteWarning[];
}

/** Translates objects of some kind into routes. Pure: equal inputs give equal routes. */
export interface RouteSource {
  /** The kind that it reads: `ingress`. */
  readonly name: string;
  routes(input: GlobalInput): RouteSet;
}

/** Where plugins add their routes, during `setup`. */
export interface Routes {
  /** @throws Error when a source of that name is there already. */
  add(source: RouteSource): void;
}
export const ROUTES: ServiceKey<Routes> = serviceKey('routes');

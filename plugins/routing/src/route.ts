import type { ObjectRef } from '@haptic/core/contract';
import type { HostPattern } from './host.ts';

/** Where a route was written: object, rule and place within the rule. Orders routes that are otherwise equal. */
export interface RouteOrigin {
  readonly object: ObjectRef;
  readonly rule: number;
  readonly index: number;
}

/** What a request arrives at. Routes of listeners with one port key and one host name share their tables. */
export interface Listener {
  /** The first word of the bind's name: `i80`. Letters and digits. */
  readonly portKey: string;
  /** The hosts that the listener serves; a more specific listener of the same port takes its hosts away from it. */
  readonly host: HostPattern;
  /**
   * How far a request falls that no rule of its own host matches. `namespace`: to less specific hosts' rules of those
   * namespaces that have a rule on the request's host themselves. `listener`: to all rules of this listener.
   */
  readonly fallThrough: 'namespace' | 'listener';
}

export interface PathPattern {
  readonly kind: 'exact' | 'prefix' | 'regex';
  /** As the user wrote it. A regex is anchored at the start. */
  readonly value: string;
}

/** All of a route's conditions must hold. Header names ignore case; a regex must match the whole value. */
export type Condition =
  | { readonly kind: 'method'; readonly value: string }
  | {
      readonly kind: 'header' | 'query';
      readonly name: string;
      readonly match: 'exact' | 'regex';
      readonly value: string;
    };

/** What makes one backend: routes that agree in all of it share health checks, connections and queue. */
export interface BackendRef {
  readonly namespace: string;
  readonly service: string;
  /** The Service's port number. */
  readonly port: number;
  /** The kind of backend, for the libraries' `profile-*` snippets; empty is the ordinary one. */
  readonly profile?: string;
  /** Further words of every server line, such as `proto h2`. */
  readonly serverKeywords?: readonly string[];
}

/** Where a request is sent on to. What is absent stays as the request has it. */
export interface Redirect {
  readonly code: 301 | 302 | 303 | 307 | 308;
  readonly scheme?: 'http' | 'https';
  readonly host?: string;
  /** Absent: none in the location. */
  readonly port?: number;
  /** `full` replaces the path; `prefix` the part of it that a prefix rule matched. */
  readonly path?: { readonly kind: 'full' | 'prefix'; readonly value: string };
}

export type Destination =
  | { readonly kind: 'backend'; readonly backend: BackendRef }
  | { readonly kind: 'redirect'; readonly redirect: Redirect }
  /** A built-in answer: nothing there (404), a reference that is not allowed (500), a reference to nothing (503). */
  | { readonly kind: 'status'; readonly status: 404 | 500 | 503 };

export interface Target {
  readonly to: Destination;
  /** A share, relative to the other targets; 0 gets no traffic. */
  readonly weight: number;
}

/** One way from requests to targets. Frozen, and the identical object as long as nothing about it changes. */
export interface Route {
  readonly origin: RouteOrigin;
  readonly listener: Listener;
  readonly host: HostPattern;
  readonly path: PathPattern;
  readonly conditions: readonly Condition[];
  /** None: 500. Several: by weight. */
  readonly targets: readonly Target[];
  /** An access rule depends on which route is taken: the host answers 400 to paths that can be read in two ways. */
  readonly security?: boolean;
  /** Creation, milliseconds since the epoch. Absent is the youngest: the object is only proposed. */
  readonly age?: number;
}

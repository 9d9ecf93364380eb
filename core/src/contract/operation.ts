/**
 * Typed changes of a running worker. Values are plain data: the agent alone spells and escapes them in HAProxy's words.
 *
 * The ops of one apply run in the order of the list, after the apply's files are in place; where an op speaks of a content (a
 * certificate, a whole map) it is that of the apply's file at `path`. The first one that HAProxy refuses ends the run, and a reload
 * of the files does what is left: every op changes the worker only towards what these files say.
 *
 * The order that `diff` guarantees, so that no request ever meets a half:
 *
 * 1. certificates and CA files, then lines of crt-lists;
 * 2. backends with their servers; servers of backends that are there, added before changed before removed;
 * 3. map entries added, set and replaced by layer: leaves, lists, paths, hosts. What they point at is there by now;
 * 4. map entries removed: hosts, paths; lists and leaves are `deferred`, since requests in flight read them later;
 * 5. backends removed; then lines of crt-lists removed, then certificates and CA files.
 *
 * Ops with a deferred part are done in the answer's sense once their inline part is: the agent does the rest from a queue, with a
 * bounded wait. What an add, a set or a replace brings back is taken out of that queue first.
 */
export type Operation = MapOperation | ServerOperation | BackendOperation | TlsOperation;

/** All HAProxy versions. `map` is the path by which the configuration names the file: `maps/hosts.map`. */
export type MapOperation =
  /** A key that the map has not. One whose removal still waits is there: then it is a `set`. */
  | { readonly op: 'map.add'; readonly map: string; readonly key: string; readonly value: string }
  /** A key that the map has. */
  | { readonly op: 'map.set'; readonly map: string; readonly key: string; readonly value: string }
  /** `deferred`: not before the longest response has ended, or the next apply comes. */
  | { readonly op: 'map.del'; readonly map: string; readonly key: string; readonly deferred: boolean }
  /**
   * All entries at once, as the apply's file of this path has them, in its order: `prepare map`, `add map @v`, `commit map @v`. For
   * maps whose order matters. Removals of this map that still wait are done with it.
   */
  | { readonly op: 'map.replace'; readonly map: string };

/** A server as the runtime takes it: what a file says by several words is one fact here. */
export interface RuntimeServer {
  readonly name: string;
  /** Literal IP address. */
  readonly address: string;
  readonly port: number;
  /** 0 for one that drains, as in the file. */
  readonly weight: number;
  readonly state: 'ready' | 'maint';
  /** Has health checks, which do not start by themselves: `enable health` is needed after `add server`. */
  readonly checked: boolean;
  /** Everything else, word by word. */
  readonly keywords: readonly string[];
  readonly guid: string;
}

/** All HAProxy versions. The ones that never wait for a paced reload: see `IN_PLACE_OPS`. */
export type ServerOperation =
  /**
   * `add server`, `enable health` where it is checked, `enable server` where it is ready (it is born in maintenance). A name whose
   * removal still waits: the removal is cancelled if the keywords are the same, else finished first.
   */
  | { readonly op: 'server.add'; readonly backend: string; readonly server: RuntimeServer }
  /**
   * Inline `disable server`; deferred: `wait srv-removable`, `del server`. `keywords` and `guid` as in `RuntimeServer`: one that comes
   * back with the same ones before it is deleted is taken into use again; without them it must be gone first.
   */
  | {
      readonly op: 'server.del';
      readonly backend: string;
      readonly name: string;
      readonly keywords?: readonly string[];
      readonly guid?: string;
    }
  /** Only what is named changes, in this order: endpoint, weight, state. At least one is named. */
  | {
      readonly op: 'server.set';
      readonly backend: string;
      readonly name: string;
      readonly endpoint?: { readonly address: string; readonly port: number };
      readonly weight?: number;
      readonly state?: 'ready' | 'maint';
    };

/** HAProxy 3.4 and later. */
export type BackendOperation =
  /**
   * `add backend NAME from PROFILE mode MODE guid GUID`, every server as by `server.add`, `publish backend`. The worker has loaded the
   * profile. A name whose removal still waits: it is published again if profile, mode and guid are the same and its servers are brought
   * in line; else the removal is finished first.
   */
  | {
      readonly op: 'backend.add';
      readonly name: string;
      readonly profile: string;
      readonly mode: 'http' | 'tcp';
      readonly guid: string;
      readonly servers: readonly RuntimeServer[];
    }
  /**
   * Inline `unpublish backend` and `disable server` for each of `servers` (all that it has); deferred: `wait srv-removable` and
   * `del server` for each, `wait be-removable`, `del backend`.
   */
  | { readonly op: 'backend.del'; readonly name: string; readonly servers: readonly string[] };

/** One line of a crt-list. It needs no escapes. */
export interface CrtListLine {
  /** Path of the certificate's file: `certs/default-shop.pem`. */
  readonly certificate: string;
  /** What stands in the brackets, without them; empty: none. */
  readonly options: string;
  /** SNI filters; none: the names in the certificate. */
  readonly sni: readonly string[];
}

/** All HAProxy versions. Contents are those of the apply's files. */
export type TlsOperation =
  /** One that the worker has not: `new`, `set`, `commit ssl cert`. */
  | { readonly op: 'cert.add'; readonly path: string }
  /**
   * One that it has: `set`, `commit ssl cert`. In use by the next handshake. `ifLoaded`: no line of a crt-list names it, so that the
   * worker has it only if its text does; then there is nothing to do.
   */
  | { readonly op: 'cert.set'; readonly path: string; readonly ifLoaded?: true }
  /** `del ssl cert`; no crt-list names it any more. */
  | { readonly op: 'cert.del'; readonly path: string }
  /** One that the worker has not: `new`, `set`, `commit ssl ca-file`. */
  | { readonly op: 'ca.add'; readonly path: string }
  /** `ifLoaded` as with certificates. */
  | { readonly op: 'ca.set'; readonly path: string; readonly ifLoaded?: true }
  | { readonly op: 'ca.del'; readonly path: string }
  /** Appends the line. */
  | { readonly op: 'crtlist.add'; readonly list: string; readonly line: CrtListLine }
  /** Removes the line; others of the same certificate stay, so it goes by its number (`show ssl crt-list -n`). */
  | { readonly op: 'crtlist.del'; readonly list: string; readonly line: CrtListLine };

export type OperationName = Operation['op'];

/** What an agent that knows everything lists in its state. */
export const OPERATION_NAMES: readonly OperationName[] = [
  'map.add',
  'map.set',
  'map.del',
  'map.replace',
  'server.add',
  'server.del',
  'server.set',
  'backend.add',
  'backend.del',
  'cert.add',
  'cert.set',
  'cert.del',
  'ca.add',
  'ca.set',
  'ca.del',
  'crtlist.add',
  'crtlist.del',
];

/**
 * Changes of endpoints. With a verdict `reload` they come as `inPlaceOps`: the agent runs them at once whether or not the reload is
 * paced, and a refused one is no failure, since the reload does its work too. With a verdict `runtime` while an earlier reload
 * waits, the agent does the same with those among `ops`.
 */
export const IN_PLACE_OPS: ReadonlySet<OperationName> = new Set(['server.add', 'server.del', 'server.set']);

type Release = readonly [major: number, minor: number, patch: number];

/**
 * The first release of each branch that does it right, where that is not every release that is supported; branches after the last
 * one do.
 */
const OPERATION_SINCE: Readonly<Partial<Record<OperationName, readonly [Release, ...Release[]]>>> = {
  'backend.add': [[3, 4, 0]],
  // Before, HAProxy dies when the backend that it lists first is deleted. Not seen here: its release notes say so.
  'backend.del': [[3, 4, 4]],
  // Before, a certificate that is set afterwards is not served, and the next CA that is set reads memory that was freed.
  'ca.set': [
    [3, 0, 13],
    [3, 2, 8],
    [3, 3, 0],
  ],
};

/** Whether a worker of this version does it right. `version` as HAProxy tells it: `3.4.7`, `3.0.11-1+deb13u4`. */
export function isSupportedBy(version: string, op: OperationName): boolean {
  const since = OPERATION_SINCE[op];
  if (since === undefined) return true;
  const [major = 0, minor = 0, patch = 0] = version.split('.').map((part) => Number.parseInt(part, 10));
  const branch = major * 1_000 + minor;
  const own = since.find((release) => release[0] * 1_000 + release[1] === branch);
  if (own !== undefined) return patch >= own[2];
  const last = since.at(-1) ?? since[0];
  return branch > last[0] * 1_000 + last[1];
}

/** What one apply holds of `ops`, and of `inPlaceOps`, at most; more is a reload. */
export const MOST_OPERATIONS = 1_000;

import type { MapLayer, MapMatch } from './config.ts';
import type { ContentRequest } from './contents.ts';
import type { JsonObject, ObjectRef } from './object.ts';
import type { CrtListLine } from './operation.ts';

/** Lower-case hex SHA-256. */
export type Digest = string;

/** Where rendered text comes from: the snippet whose tag declared it and the Kubernetes objects it speaks of. */
export interface Provenance {
  readonly snippet: string;
  /** Library or config that owns the snippet. */
  readonly source: string;
  /** Line of the declaring tag in the snippet, from 1. */
  readonly line: number;
  readonly objects: readonly ObjectRef[];
}

/** A section of haproxy.cfg. `core`: as a template declares it. `stamp`: tells which text a worker runs. */
export interface Section {
  readonly kind: 'core' | 'profile' | 'backend' | 'stamp';
  readonly name: string;
  /** Of the section's text. */
  readonly digest: Digest;
  /** Bytes. */
  readonly length: number;
  readonly provenance: Provenance;
  readonly secret?: boolean;
}

/** A `defaults` section that backends with equal bodies share. */
export interface Profile {
  readonly digest: Digest;
  /** The defaults that it inherits from. */
  readonly base: string;
}

/** One server of a backend. */
export interface Server {
  /** The pod's name; `<ip>-<port>` without one. */
  readonly name: string;
  /** Literal IP address. */
  readonly address: string;
  readonly port: number;
  readonly weight?: number;
  readonly state: 'ready' | 'drain' | 'maint';
  /** Everything else that the server line holds, word by word: all that `add server` needs. */
  readonly keywords: readonly string[];
  readonly guid: string;
}

/** A backend as plans are compared by: what of it a running worker can change, and what takes a reload. */
export interface Backend {
  readonly profile: string;
  readonly mode: 'http' | 'tcp';
  readonly guid: string;
  /** Dynamic: every part of it can be changed at run time. */
  readonly shape: 'dynamic' | 'static';
  readonly shapeReason?: string;
  /** Of a static one: its text without the servers, which may be changed at run time all the same. */
  readonly directives?: Digest;
  /** Why its servers change with a reload only; undefined where they change at run time. */
  readonly serversReason?: string;
  /** Of a spare backend: the name of the one that it serves for; empty while it is free. */
  readonly spareFor?: string;
  /** By name, code units. */
  readonly servers: readonly Server[];
  readonly digest: Digest;
}

/** A map with its entries. */
export interface MapFile {
  readonly match: MapMatch;
  readonly layer: MapLayer;
  readonly secret: boolean;
  /** Sorted by key where order does not matter (`str`, `beg`, `ip`); in order of declaration elsewhere. */
  readonly entries: readonly (readonly [key: string, value: string])[];
  readonly digest: Digest;
}

/** A list of certificates that a bind line names. */
export interface CrtList {
  /** As written: the first certificate is the default one, and of equal filters the first counts. */
  readonly lines: readonly CrtListLine[];
  readonly digest: Digest;
}

/** Where HAProxy listens. */
export interface Bind {
  /** As written in the bind line: `127.0.0.1:8080`, `:80`, `[::]:443`. */
  readonly address: string;
}

export type FileKind = 'config' | 'map' | 'crt-list' | 'certificate' | 'ca' | 'file';

/** One file of the set that a pod gets; `path` is relative to the base directory. */
export interface FileEntry {
  readonly path: string;
  readonly kind: FileKind;
  readonly digest: Digest;
  /** Bytes. */
  readonly size: number;
  readonly reloadOnChange: boolean;
  readonly secret?: boolean;
}

/** An Event that a template asked for (`warn`). */
export interface PlannedEvent {
  readonly object: ObjectRef;
  readonly reason: string;
  readonly message: string;
}

/**
 * What a render declares: canonical JSON, the same whatever the order in which objects arrived. Contents are not in it; see
 * `Rendered`.
 */
export interface RenderPlan {
  readonly schema: 1;
  /** Merkle root over what a pod gets, the stamp excepted. Verdicts, fences and the last known good are keyed by it. */
  readonly id: Digest;
  /** `id` and what moves with the deployment: resources, statuses, events. */
  readonly releaseId: Digest;
  /** Digest of all sections but the stamp: what the stamp in `haproxy.cfg` says. */
  readonly textId: Digest;
  readonly sections: readonly Section[];
  readonly profiles: Readonly<Record<string, Profile>>;
  readonly backends: Readonly<Record<string, Backend>>;
  readonly maps: Readonly<Record<string, MapFile>>;
  readonly crtLists: Readonly<Record<string, CrtList>>;
  readonly certificates: Readonly<Record<string, { readonly digest: Digest }>>;
  readonly caFiles: Readonly<Record<string, { readonly digest: Digest }>>;
  readonly binds: readonly Bind[];
  /** Sorted by path. */
  readonly files: readonly FileEntry[];
  readonly k8sResources: readonly JsonObject[];
  readonly statuses: readonly JsonObject[];
  readonly events: readonly PlannedEvent[];
}

/** A complete, immutable set of files: what a judge judges and a pod gets. */
export interface FileSet {
  /** Sorted. */
  readonly entries: readonly FileEntry[];
  /** @throws Bug for a path that is not in the set. The caller must not change the bytes. */
  read(path: string): Uint8Array;
}

/** A plan with its contents, and the way back from a line to what declared it. */
export interface Rendered {
  readonly plan: RenderPlan;
  readonly files: FileSet;
  /** Contents that its templates asked for; none when absent. */
  readonly requests?: readonly ContentRequest[];
  /** What each template of `k8sResources` made of `plan.k8sResources`, in its order; nothing when absent. */
  readonly resources?: ReadonlyMap<string, readonly JsonObject[]>;
  /** The provenance of a line (from 1) of a rendered file; undefined where nobody declared it. */
  locate(path: string, line: number): Provenance | undefined;
}

import type { ObjectRef } from './object.ts';

/**
 * What is served in an object's place. `accepted`: its last revision that every judge passed. `unavailable`: its routes answer 503,
 * nothing else of it is used. `nothing`: not even its routes could be served.
 */
export type ServedInstead = 'accepted' | 'unavailable' | 'nothing';

/** A watched object that a judge, a pod or a template refuses. Others are served as if it said what is served in its place. */
export interface QuarantinedObject {
  readonly watch: string;
  readonly object: ObjectRef;
  /** Identity of the refused content, empty where it would tell about a Secret's data: it is tried again when the object says something else. */
  readonly revision: string;
  /** In the words of whoever refused it: mostly HAProxy's. */
  readonly reason: string;
  readonly instead: ServedInstead;
  /** `metadata.resourceVersion` of the revision that is served, or its content's identity where it has none. */
  readonly acceptedRevision?: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
  /** The accepted revision is too large or too secret to be kept: after a restart its routes answer 503. */
  readonly lostAtRestart?: boolean;
}

/** What changed about the quarantine. */
export interface QuarantineChange {
  readonly added: readonly QuarantinedObject[];
  /** Another revision of the object is refused, or the same one for another reason, or something else is served in its place. */
  readonly changed: readonly QuarantinedObject[];
  readonly released: readonly (QuarantinedObject & { readonly because: 'mended' | 'deleted' })[];
  /** Everything that is held from now on. */
  readonly all: readonly QuarantinedObject[];
}

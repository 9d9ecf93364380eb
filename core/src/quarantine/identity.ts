import type { KubeObject, ObjectRef, StoreView } from '../contract/index.ts';
import type { Hash } from '../plan/index.ts';
import { canonicalJson } from '../values/canonical-json.ts';

/** An object as one watch holds it. */
export interface Held {
  readonly watch: string;
  readonly object: KubeObject;
}

/** Names one object of one watch. */
export function keyOf(
  watch: string,
  { namespace = '', name }: Pick<ObjectRef, 'name'> & { readonly namespace?: string },
): string {
  return `${watch}\0${namespace}\0${name}`;
}

export function keyOfHeld({ watch, object }: Held): string {
  return keyOf(watch, object.metadata);
}

/** The object of a view that a reference names, in every watch that holds it. */
export function findHeld(view: StoreView, ref: ObjectRef): readonly Held[] {
  return view.watches.flatMap((watch) => {
    const object = view.watch(watch).get(ref.namespace, ref.name);
    return object?.kind === ref.kind && object.apiVersion === ref.apiVersion ? [{ watch, object }] : [];
  });
}

/** Whether both are states of one object, and not two that had the same name one after the other. */
export function isSameObject(a: KubeObject, b: KubeObject): boolean {
  return a.metadata.uid === b.metadata.uid;
}

/**
 * Tells what an object says, whoever touched it: a status, or a write that changes nothing, is no edit. Of a Secret it is the number
 * of its write where it has one, since a digest would tell about its data.
 */
export class Revisions {
  readonly #hash: Hash;
  readonly #known = new WeakMap<KubeObject, string>();

  constructor(hash: Hash) {
    this.#hash = hash;
  }

  of(object: KubeObject): string {
    let revision = this.#known.get(object);
    if (revision === undefined) {
      revision = this.#revision(object);
      this.#known.set(object, revision);
    }
    return revision;
  }

  #revision(object: KubeObject): string {
    const { metadata, status: _, ...content } = object;
    const { resourceVersion, generation: __, ...identity } = metadata;
    if (isSecret(object) && resourceVersion !== undefined)
      return `${WRITE}${metadata.uid ?? ''}/${resourceVersion}`;
    return this.#hash(canonicalJson({ ...content, metadata: identity }));
  }
}

const WRITE = 'write:';

export function isSecret({ kind }: Pick<KubeObject, 'kind'>): boolean {
  return kind === 'Secret';
}

/** A revision that may leave the process: not the digest of a Secret's data. Without one the object counts as changed. */
export function keptRevision(ref: ObjectRef, revision: string): string {
  return isSecret(ref) && !revision.startsWith(WRITE) ? '' : revision;
}

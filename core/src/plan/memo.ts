import type { Digest } from '../contract/index.ts';
import type { BackendPiece, SectionPiece } from '../templates/output.ts';
import type { BuiltBackend } from './backend-section.ts';
import type { BuiltCore } from './core-section.ts';
import { TextDigests, type Hash } from './hash.ts';
import type { BuiltMap } from './map-file.ts';
import type { Problems } from './problems.ts';

/** What was built from a declaration, for as long as templates hand out the identical declaration. */
export class Remembered<K extends object, V> {
  readonly #known = new WeakMap<K, V>();

  /** Nothing that had a problem is remembered: it must be reported again by every render. */
  get(key: K, problems: Problems, build: () => V, isCurrent: (value: V) => boolean = () => true): V {
    const known = this.#known.get(key);
    if (known !== undefined && isCurrent(known)) return known;
    const { count } = problems;
    const built = build();
    if (problems.count === count) this.#known.set(key, built);
    return built;
  }
}

/**
 * What assemblies hand to the next one, so that unchanged parts cost nothing and stay the identical objects. It never decides what
 * a plan says: an assembly with an empty memo gives an equal plan. Holds what the last renders used, no more.
 */
export class PlanMemo {
  readonly hash: Hash;
  readonly texts: TextDigests;
  readonly cores = new Remembered<SectionPiece, BuiltCore>();
  readonly backends = new Remembered<BackendPiece, BuiltBackend>();
  /** By name. */
  readonly maps = new Map<string, BuiltMap>();
  /** Of the last `haproxy.cfg`, by the identity of its text: most changes leave it as it is. */
  mainConfig: { readonly textId: Digest; readonly digest: Digest; readonly length: number } | undefined;

  constructor(hash: Hash) {
    this.hash = hash;
    this.texts = new TextDigests(hash);
  }
}

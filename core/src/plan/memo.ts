import type { Digest } from '../contract/index.ts';
import type { BackendPiece, SectionPiece } from '../templates/output.ts';
import type { Body } from './backend-body.ts';
import type { BackendMemo, BuiltBackend } from './backend-section.ts';
import type { BuiltCore } from './core-section.ts';
import { factsOf, type Hash, type TextFacts } from './hash.ts';
import type { BuiltMap } from './map-file.ts';
import type { Problems } from './problems.ts';
import { Recent } from './recent.ts';
import { sameBackendPiece, sameSectionPiece } from './same-declaration.ts';

interface Known<P, V> {
  readonly piece: P;
  readonly value: V;
}

/** What was built from the last declarations, by their names. */
export class LastBuilt<P extends { readonly name: string }, V> {
  readonly #same: (a: P, b: P) => boolean;
  #current = new Map<string, Known<P, V>>();
  #previous = new Map<string, Known<P, V>>();

  constructor(same: (a: P, b: P) => boolean) {
    this.#same = same;
  }

  /** Nothing that had a problem is kept: it must be reported again by every render. */
  get(piece: P, problems: Problems, build: () => V, isCurrent: (value: V) => boolean = () => true): V {
    const known = this.#current.get(piece.name) ?? this.#previous.get(piece.name);
    if (known !== undefined && this.#same(known.piece, piece) && isCurrent(known.value)) {
      this.#current.set(piece.name, known);
      return known.value;
    }
    const { count } = problems;
    const value = build();
    if (problems.count === count) this.#current.set(piece.name, { piece, value });
    return value;
  }

  turn(): void {
    this.#previous = this.#current;
    this.#current = new Map();
  }
}

/**
 * What assemblies hand to the next one, so that unchanged parts cost nothing and stay the identical objects. It never decides what
 * a plan says: an assembly with an empty memo gives an equal plan. Holds what the last renders used, no more.
 */
export class PlanMemo implements BackendMemo {
  readonly hash: Hash;
  readonly bodies = new Recent<Body>();
  readonly profiles = new Recent<{
    readonly name: string;
    readonly text: string;
    readonly facts: TextFacts;
  }>();
  readonly cores = new LastBuilt<SectionPiece, BuiltCore>(sameSectionPiece);
  readonly backends = new LastBuilt<BackendPiece, BuiltBackend>(sameBackendPiece);
  readonly #facts = new Recent<TextFacts>();
  /** By name. */
  readonly maps = new Map<string, BuiltMap>();
  /** Of the last `haproxy.cfg`, by the identity of its text: most changes leave it as it is. */
  mainConfig: { readonly textId: Digest; readonly digest: Digest; readonly length: number } | undefined;

  constructor(hash: Hash) {
    this.hash = hash;
  }

  /** Hashed once while renders keep using the text. */
  factsOf(text: string): TextFacts {
    return this.#facts.get(text, () => factsOf(text, this.hash));
  }

  /** Called once a render. */
  turn(): void {
    for (const part of [this.#facts, this.bodies, this.profiles, this.cores, this.backends]) part.turn();
  }
}

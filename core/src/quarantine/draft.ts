import {
  refOf,
  type KubeObject,
  type MergedConfig,
  type ServedInstead,
  type StoreView,
} from '../contract/index.ts';
import type { Overlay, Substitutions } from '../store/index.ts';
import { nextInstead, type Entry } from './entry.ts';
import { isSameObject, keyOfHeld, type Held, type Revisions } from './identity.ts';
import type { Basis, Reference } from './reference.ts';
import type { SecurityFieldsOfKinds } from './security-fields.ts';

/** What stands in for one object. */
export interface Hold extends Held {
  readonly instead: ServedInstead;
  readonly accepted?: KubeObject;
  /** Undefined for a change of a repeated offender that nobody has judged yet. */
  readonly entry?: Entry;
}

/** An object to be held. */
export interface Accused extends Held {
  readonly reason: string;
  readonly doubtful: boolean;
}

export interface DraftParts {
  readonly revisions: Revisions;
  readonly security: SecurityFieldsOfKinds;
  readonly substitutions: Substitutions;
  readonly reference: Reference;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

export interface DraftSubject {
  readonly view: StoreView;
  readonly config: Pick<MergedConfig, 'annotations'>;
  readonly basis: Basis;
  /** As they are before anybody judges. */
  readonly holds: readonly Hold[];
  /** Entries that are let in, to be judged again. */
  readonly tried: ReadonlyMap<string, Entry>;
  /** Keys of what is tried by itself, beside the reconciles. */
  readonly trial: ReadonlySet<string>;
}

function proposalOf({ watch, object, instead, accepted }: Hold): Overlay {
  if (instead === 'accepted' && accepted !== undefined) return { watch, object: accepted };
  if (instead === 'unavailable') return { watch, unavailable: object };
  return { watch, delete: { namespace: object.metadata.namespace ?? '', name: object.metadata.name } };
}

/** Who is to be held for one view, while it is being found out. Nothing of it counts before somebody keeps it. */
export class Draft {
  readonly subject: DraftSubject;
  readonly #parts: DraftParts;
  readonly #holds: Map<string, Hold>;
  readonly #fresh = new Map<string, Entry>();
  #view: StoreView | undefined;

  constructor(subject: DraftSubject, parts: DraftParts) {
    this.subject = subject;
    this.#parts = parts;
    this.#holds = new Map(subject.holds.map((hold) => [keyOfHeld(hold), hold]));
  }

  get reference(): Reference {
    return this.#parts.reference;
  }

  /** What to render: every held object replaced. The identical view while nothing changes. */
  get view(): StoreView {
    this.#view ??= this.#parts.substitutions.apply(
      this.subject.view,
      [...this.#holds.values()].map(proposalOf),
    );
    return this.#view;
  }

  /** Entries that this draft has made, by key. */
  get fresh(): ReadonlyMap<string, Entry> {
    return this.#fresh;
  }

  /** Objects that were let in and not held again. */
  get passed(): readonly Entry[] {
    return [...this.subject.tried].flatMap(([key, entry]) => (this.#holds.has(key) ? [] : [entry]));
  }

  /** The entry of the object as it was before anybody judged. */
  before(key: string): Entry | undefined {
    const { tried, holds } = this.subject;
    return tried.get(key) ?? holds.find((hold) => keyOfHeld(hold) === key)?.entry;
  }

  /** Whether it is let in to find out about it: of several that are named it is the first to be suspected. */
  isTried(held: Held): boolean {
    const key = keyOfHeld(held);
    return this.subject.tried.has(key) || this.subject.trial.has(key);
  }

  holdOf(held: Held): Hold | undefined {
    return this.#holds.get(keyOfHeld(held));
  }

  revisionOf(object: KubeObject): string {
    return this.#parts.revisions.of(object);
  }

  /** Whether there is anything left to serve instead. */
  canHold(held: Held): boolean {
    const hold = this.holdOf(held);
    return hold === undefined || nextInstead(hold.instead) !== undefined;
  }

  /**
   * These, and in doubt what else was never accepted of their kind in their namespaces: each is tried by itself later. Not while the
   * configuration is unproven, when it may be that none was accepted yet.
   */
  withNeighbours(accused: readonly Accused[]): readonly Accused[] {
    if (this.reference.basis !== this.subject.basis) return accused;
    const all = new Map(accused.map((one) => [keyOfHeld(one), one]));
    for (const { watch, object: named, reason } of accused) {
      for (const object of this.subject.view.watch(watch).list()) {
        const held = { watch, object };
        const key = keyOfHeld(held);
        if (object.metadata.namespace !== named.metadata.namespace || all.has(key)) continue;
        if (this.#holds.has(key) || this.reference.hasAccepted(held)) continue;
        all.set(key, { ...held, reason: `others of its namespace are refused: ${reason}`, doubtful: true });
      }
    }
    return [...all.values()];
  }

  hold(accused: readonly Accused[]): void {
    for (const one of accused) {
      const key = keyOfHeld(one);
      const entry = this.#entryOf(one, this.#holds.get(key), this.subject.tried.get(key));
      const { watch, object } = one;
      const { instead, accepted } = entry;
      this.#fresh.set(key, entry);
      this.#holds.set(key, { watch, object, instead, entry, ...(accepted && { accepted }) });
    }
    this.#view = undefined;
  }

  #entryOf(
    { watch, object, reason, doubtful }: Accused,
    hold: Hold | undefined,
    tried: Entry | undefined,
  ): Entry {
    const { now } = this.#parts;
    const before = hold?.entry ?? tried;
    const accepted = hold === undefined ? this.#acceptedOf(watch, object, tried) : undefined;
    const instead = hold === undefined ? this.#firstInstead(object, accepted) : nextInstead(hold.instead)!;
    return Object.freeze({
      watch,
      object: refOf(object),
      revision: this.revisionOf(object),
      reason,
      instead,
      ...(accepted && { accepted }),
      since: before?.since ?? now,
      refusedAt: now,
      basis: this.subject.basis,
      doubtful,
    });
  }

  /** What was good about the object before; the very content that is refused was not. */
  #acceptedOf(watch: string, object: KubeObject, tried: Entry | undefined): KubeObject | undefined {
    const known = tried?.accepted === undefined ? [] : [tried.accepted];
    return [...known, ...this.reference.acceptedStates({ watch, object })].find(
      (state) => isSameObject(state, object) && this.revisionOf(state) !== this.revisionOf(object),
    );
  }

  #firstInstead(object: KubeObject, accepted: KubeObject | undefined): ServedInstead {
    if (accepted === undefined) return 'unavailable';
    return this.#parts.security.isEdited(accepted, object, this.subject.config) ? 'unavailable' : 'accepted';
  }
}

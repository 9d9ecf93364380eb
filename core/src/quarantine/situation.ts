import type { KubeObject, StoreView } from '../contract/index.ts';
import type { Hold } from './draft.ts';
import type { Entry } from './entry.ts';
import { keyOf, keyOfHeld, type Held, type Revisions } from './identity.ts';
import type { Offenders } from './offenders.ts';
import type { Reference } from './reference.ts';

/** What is refused for something that others say may be fine when they have changed. */
const AGAIN_MS = 10 * 60_000;

export interface SituationParts {
  readonly view: StoreView;
  readonly entries: ReadonlyMap<string, Entry>;
  readonly offenders: Offenders;
  /** Revisions that were tried by themselves and passed, by key. */
  readonly passed: ReadonlyMap<string, string>;
  readonly reference: Reference;
  readonly revisions: Revisions;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** A held object as it is now. */
interface Placed extends Held {
  readonly key: string;
  readonly entry: Entry;
  readonly isEdited: boolean;
}

/**
 * What the quarantine means for one view: who is held in it, who is tried again with everybody's changes, and who waits to be tried by
 * itself. An object that says something else is tried with the others' changes, unless its namespace keeps failing: then it waits, and
 * so does every change of the same kind of object there.
 */
export class Situation {
  readonly #parts: SituationParts;

  constructor(parts: SituationParts) {
    this.#parts = parts;
  }

  resolve(trial: ReadonlySet<string>): {
    readonly holds: readonly Hold[];
    readonly tried: ReadonlyMap<string, Entry>;
  } {
    const holds: Hold[] = [];
    const tried = new Map<string, Entry>();
    for (const { key, entry, isEdited, watch, object } of this.#placed()) {
      if (trial.has(key) || (isEdited && !this.#waits(entry))) tried.set(key, entry);
      else holds.push(holdOf(entry, { watch, object }));
    }
    for (const suspect of this.#suspects()) {
      if (trial.has(keyOfHeld(suspect))) continue;
      const accepted = this.#parts.reference.accepted(suspect);
      // A new object is not there yet.
      holds.push(
        accepted === undefined
          ? { ...suspect, instead: 'nothing' }
          : { ...suspect, instead: 'accepted', accepted },
      );
    }
    return { holds, tried };
  }

  /**
   * What may be tried now: all that is due at once, or one whose own fault is in doubt.
   *
   * @param basis What objects would be judged with.
   */
  due(basis: string): ReadonlySet<string> {
    const due = this.#waiting(basis).filter(({ at }) => at <= this.#parts.now);
    const certain = due.filter(({ isAlone }) => !isAlone);
    return new Set((certain.length > 0 ? certain : due.slice(0, 1)).map(({ key }) => key));
  }

  nextDue(basis: string): number | undefined {
    const times = this.#waiting(basis).map(({ at }) => at);
    return times.length === 0 ? undefined : Math.max(0, Math.min(...times) - this.#parts.now);
  }

  /** Of those keys, the objects that are there. */
  objectsOf(keys: ReadonlySet<string>): readonly Held[] {
    return [...this.#placed(), ...this.#suspects()].filter((held) => keys.has(keyOfHeld(held)));
  }

  #waiting(
    basis: string,
  ): readonly { readonly key: string; readonly at: number; readonly isAlone: boolean }[] {
    const { offenders } = this.#parts;
    const entries = this.#placed()
      .filter(({ isEdited, entry }) => !isEdited || this.#waits(entry))
      .map(({ key, entry, isEdited, object }) => {
        const { doubtful, refusedAt } = entry;
        if (isEdited)
          return { key, isAlone: false, at: offenders.notBefore(object.metadata.namespace ?? '') };
        return { key, isAlone: doubtful, at: doubtful || entry.basis !== basis ? 0 : refusedAt + AGAIN_MS };
      });
    const suspects = this.#suspects().map((suspect) => ({
      key: keyOfHeld(suspect),
      isAlone: false,
      at: offenders.notBefore(suspect.object.metadata.namespace ?? ''),
    }));
    return [...entries, ...suspects];
  }

  #waits({ object }: Entry): boolean {
    return this.#parts.offenders.isRepeated(object.namespace);
  }

  /** Entries whose object the view has. */
  #placed(): readonly Placed[] {
    const { view, entries, revisions } = this.#parts;
    return [...entries].flatMap(([key, entry]) => {
      const { watch, object: ref } = entry;
      const object = view.watches.includes(watch)
        ? view.watch(watch).get(ref.namespace, ref.name)
        : undefined;
      if (object === undefined) return [];
      return [{ key, entry, watch, object, isEdited: revisions.of(object) !== entry.revision }];
    });
  }

  /** Changes of repeated offenders that nobody has judged yet. After a restart there are none: everything is judged anew. */
  #suspects(): readonly Held[] {
    const { offenders, reference, view } = this.#parts;
    if (reference.view === undefined) return [];
    return offenders.repeated.flatMap(({ namespace, watches }) =>
      watches
        .filter((watch) => view.watches.includes(watch))
        .flatMap((watch) =>
          ofNamespace(view.watch(watch).list(), namespace).map((object) => ({ watch, object })),
        )
        .filter((held) => this.#isSuspect(held)),
    );
  }

  #isSuspect(held: Held): boolean {
    const { entries, passed, reference, revisions } = this.#parts;
    const key = keyOf(held.watch, held.object.metadata);
    if (entries.has(key) || reference.hasAccepted(held)) return false;
    return passed.get(key) !== revisions.of(held.object);
  }
}

function holdOf(entry: Entry, held: Held): Hold {
  const { instead, accepted, object } = entry;
  // Deleted and made anew: nothing of the former one is served, and the new one is not there yet.
  if (object.uid !== held.object.metadata.uid) return { ...held, instead: 'nothing', entry };
  return { ...held, instead, entry, ...(accepted && { accepted }) };
}

/** Lists are ordered by namespace: looking for one need not look at all objects. */
function ofNamespace(list: readonly KubeObject[], namespace: string): readonly KubeObject[] {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((list[middle]!.metadata.namespace ?? '') < namespace) low = middle + 1;
    else high = middle;
  }
  const objects: KubeObject[] = [];
  for (let at = low; at < list.length && (list[at]!.metadata.namespace ?? '') === namespace; at++)
    objects.push(list[at]!);
  return objects;
}

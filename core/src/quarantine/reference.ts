import type { FleetFacts, KubeObject, MergedConfig, StoreView } from '../contract/index.ts';
import { isSameObject, keyOfHeld, type Held, type Revisions } from './identity.ts';
import type { KnownRevisions } from './known-revisions.ts';

/** What decides besides the objects: with another one, an object that is refused may be without fault. */
export type Basis = string;

export function basisOf(
  config: Pick<MergedConfig, 'digest'>,
  fleet: Pick<FleetFacts, 'haproxyVersion'>,
): Basis {
  return `${config.digest} ${fleet.haproxyVersion}`;
}

/** Views before the last accepted one; they share with it what did not change. */
const EARLIER = 4;

/** What was accepted last. */
interface Accepted {
  readonly view: StoreView;
  readonly basis: Basis;
}

/** What is known to have been good: the view that every judge passed last, or of the time before the restart what was kept. */
export class Reference {
  readonly #revisions: Revisions;
  readonly #known: KnownRevisions | undefined;
  readonly #accepted: Accepted | undefined;
  /** The newest first. */
  readonly #earlier: readonly StoreView[];

  constructor(
    revisions: Revisions,
    known?: KnownRevisions,
    accepted?: Accepted,
    earlier: readonly StoreView[] = [],
  ) {
    this.#revisions = revisions;
    this.#known = known;
    this.#accepted = accepted;
    this.#earlier = earlier;
  }

  get view(): StoreView | undefined {
    return this.#accepted?.view;
  }

  /** Undefined before anything was ever accepted here. */
  get basis(): Basis | undefined {
    return this.#accepted?.basis ?? this.#known?.basis;
  }

  with(accepted: Accepted): Reference {
    const before = this.view === undefined || this.view === accepted.view ? [] : [this.view];
    const earlier = [...before, ...this.#earlier].slice(0, EARLIER);
    return new Reference(this.#revisions, this.#known, accepted, earlier);
  }

  /** The accepted state of the same object. */
  accepted({ watch, object }: Held): KubeObject | undefined {
    return stateIn(this.view, watch, object);
  }

  /** And the states before it, as far as they are known: a pod may refuse what every judge passed. */
  acceptedStates({ watch, object }: Held): readonly KubeObject[] {
    return [this.view, ...this.#earlier].flatMap((view) => stateIn(view, watch, object) ?? []);
  }

  /** Whether this very content of the object was accepted. */
  hasAccepted(held: Held): boolean {
    if (this.view === undefined) {
      return this.#known?.has(keyOfHeld(held), this.#revisions.of(held.object)) ?? false;
    }
    const found = this.accepted(held);
    return (
      found === held.object ||
      (found !== undefined && this.#revisions.of(found) === this.#revisions.of(held.object))
    );
  }

  /** Objects of the view that say something that was not accepted; undefined where there are more than `most`. */
  changed(view: StoreView, most: number): readonly Held[] | undefined {
    const changed: Held[] = [];
    for (const watch of view.watches) {
      for (const object of view.watch(watch).list()) {
        if (this.hasAccepted({ watch, object })) continue;
        changed.push({ watch, object });
        if (changed.length > most) return undefined;
      }
    }
    return changed;
  }
}

function stateIn(view: StoreView | undefined, watch: string, object: KubeObject): KubeObject | undefined {
  if (view === undefined || !view.watches.includes(watch)) return undefined;
  const found = view.watch(watch).get(object.metadata.namespace ?? '', object.metadata.name);
  return found !== undefined && isSameObject(found, object) ? found : undefined;
}

import { describeRef, refOf, type KubeObject, type StoreView } from '../contract/index.ts';
import { complaintsOf, type Complaint, type Failure } from './complaints.ts';
import type { Accused, Draft } from './draft.ts';
import { findHeld, keyOfHeld, type Held } from './identity.ts';

/** Who is to be held; or that it is the configuration; or that nobody can tell. */
export type Blame =
  | { readonly kind: 'objects'; readonly accused: readonly Accused[] }
  /** What was refused has changed by now: the newest state is to be judged. */
  | { readonly kind: 'outdated' }
  | { readonly kind: 'configuration'; readonly reason: string }
  | { readonly kind: 'unknown'; readonly reason: string };

/** Objects that a configuration nobody has accepted yet may find fault with: so many, or one in a hundred of their kind. */
const FEW = 5;
const SHARE = 0.01;

/** Changed objects that are held where nobody says whose fault it is. */
const GUESSED = 5;

/** Names in one message. */
const LISTED = 5;

/** What was found out about one complaint. */
interface Traced extends Complaint {
  readonly guilty: readonly Held[];
  /** Named, but good before: it has not become bad by itself. */
  readonly cleared: readonly Held[];
  readonly isOutdated: boolean;
}

/** Finds who is to be held. Keeps what earlier rounds of one draft found. */
export class Investigation {
  readonly #draft: Draft;
  /** Namespaces whose objects a line of a template failed for. */
  readonly #namespaces = new Map<string, Set<string>>();
  #hasGuessed = false;

  constructor(draft: Draft) {
    this.#draft = draft;
  }

  blame(failure: Failure): Blame {
    const traced = complaintsOf(failure).map((complaint) => this.#trace(complaint, failure));
    const isUnproven = this.#isUnproven;
    const cleared = traced.filter(({ guilty, cleared }) => guilty.length === 0 && cleared.length > 0);
    if (isUnproven && cleared.length > 0) return this.#configuration(refusesAccepted(cleared));
    const accused = accusedOf(traced);
    if (accused.length === 0) {
      if (traced.some(({ isOutdated }) => isOutdated)) return { kind: 'outdated' };
      return isUnproven
        ? this.#configuration('it is no watched object that is refused')
        : this.#guess(traced);
    }
    const fault =
      isUnproven || failure.kind === 'pod' ? this.#faultOfConfiguration(accused, traced) : undefined;
    return fault === undefined ? { kind: 'objects', accused } : this.#configuration(fault);
  }

  /** Nothing has been accepted with this configuration yet, so it may be what is wrong. */
  get #isUnproven(): boolean {
    return this.#draft.reference.basis !== this.#draft.subject.basis;
  }

  #configuration(reason: string): Blame {
    return { kind: 'configuration', reason };
  }

  #trace(complaint: Complaint, failure: Failure): Traced {
    const named = complaint.objects.flatMap((ref) => findHeld(this.#draft.subject.view, ref));
    const current = named.filter((held) => this.#isAsRendered(held, failure.view));
    const canHold = current.filter((held) => this.#draft.canHold(held));
    const isCleared = (held: Held): boolean => failure.kind !== 'pod' && this.#wasGood(held);
    const guilty = canHold.filter((held) => !isCleared(held));
    const tried = guilty.filter((held) => this.#draft.isTried(held));
    return {
      ...complaint,
      guilty: tried.length > 0 ? tried : guilty,
      cleared: canHold.filter(isCleared),
      isOutdated: named.length > current.length,
    };
  }

  /** Whether what stands for the object now was accepted: with a configuration that was, its own last revision may fail all the same. */
  #wasGood(held: Held): boolean {
    const { reference } = this.#draft;
    const hold = this.#draft.holdOf(held);
    if (hold === undefined) return reference.hasAccepted(held);
    return hold.instead === 'accepted' && this.#isUnproven && reference.basis !== undefined;
  }

  /** Whether what stands for the object now is what stood for it in the view that was refused. */
  #isAsRendered(held: Held, rendered: StoreView): boolean {
    if (rendered === this.#draft.view) return true;
    if (!rendered.watches.includes(held.watch)) return false;
    const now = contentIn(this.#draft.view, held);
    const then = contentIn(rendered, held);
    return (
      now !== undefined &&
      then !== undefined &&
      now.isUnavailable === then.isUnavailable &&
      this.#draft.revisionOf(now.object) === this.#draft.revisionOf(then.object)
    );
  }

  /** Nobody is named, and the configuration was good: it is something that changed. */
  #guess(traced: readonly Traced[]): Blame {
    const { view } = this.#draft.subject;
    const reason = traced.map(({ message }) => message).join('\n');
    if (this.#hasGuessed) return { kind: 'unknown', reason };
    this.#hasGuessed = true;
    const changed = this.#draft.reference
      .changed(view, GUESSED + this.#draft.subject.holds.length)
      ?.filter((held) => this.#draft.holdOf(held) === undefined);
    if (changed === undefined || changed.length === 0 || changed.length > GUESSED)
      return { kind: 'unknown', reason };
    return {
      kind: 'objects',
      accused: changed.map((held) => ({ ...held, reason, doubtful: changed.length > 1 })),
    };
  }

  #faultOfConfiguration(accused: readonly Accused[], traced: readonly Traced[]): string | undefined {
    for (const { line, message, guilty } of traced) {
      if (line === undefined) continue;
      const namespaces = this.#namespaces.get(line) ?? new Set();
      for (const { object } of guilty) namespaces.add(object.metadata.namespace ?? '');
      this.#namespaces.set(line, namespaces);
      if (namespaces.size > 1) {
        return `one line of a template fails for objects of several namespaces (${[...namespaces].sort().join(', ')}): ${message}`;
      }
    }
    const keys = [...this.#draft.fresh.keys(), ...accused.map(keyOfHeld)];
    const held = new Set(keys.filter((key) => this.#draft.before(key) === undefined));
    const most = this.#allowance(accused);
    if (held.size <= most) return undefined;
    return `it refuses ${held.size} objects, more than ${most}: ${names(accused)}`;
  }

  #allowance(accused: readonly Accused[]): number {
    const watches = new Set(accused.map(({ watch }) => watch));
    const { view } = this.#draft.subject;
    const total = [...watches].reduce((sum, watch) => sum + view.watch(watch).list().length, 0);
    return Math.max(FEW, Math.floor(total * SHARE));
  }
}

function contentIn(
  view: StoreView,
  { watch, object: { metadata } }: Held,
): { readonly object: KubeObject; readonly isUnavailable: boolean } | undefined {
  const { namespace = '', name } = metadata;
  const object = view.watch(watch).get(namespace, name);
  if (object !== undefined) return { object, isUnavailable: false };
  const unavailable = view
    .watch(watch)
    .unavailable()
    .find((other) => other.metadata.name === name && (other.metadata.namespace ?? '') === namespace);
  return unavailable && { object: unavailable, isUnavailable: true };
}

/** Each object once, with the first thing that is said of it. */
function accusedOf(traced: readonly Traced[]): readonly Accused[] {
  const accused = new Map<string, Accused>();
  for (const { guilty, message } of traced) {
    const doubtful = guilty.length > 1;
    for (const held of guilty) {
      const key = keyOfHeld(held);
      const known = accused.get(key);
      // Named by itself, it is the one.
      if (known === undefined || (known.doubtful && !doubtful))
        accused.set(key, { ...held, reason: message, doubtful });
    }
  }
  return [...accused.values()];
}

function refusesAccepted(traced: readonly Traced[]): string {
  const objects = traced.flatMap(({ cleared }) => cleared);
  return `it refuses what was accepted before: ${names(objects)}`;
}

function names(objects: readonly Held[]): string {
  const all = [...new Set(objects.map(({ object }) => describeRef(refOf(object))))];
  const more = all.length > LISTED ? ` and ${all.length - LISTED} more` : '';
  return all.slice(0, LISTED).join(', ') + more;
}

import type { Digest, Pod } from '../contract/index.ts';
import type { Deferred } from '../pipeline/index.ts';

/** Something that went out before HAProxy has judged it. */
export interface Unjudged {
  readonly deferred: Deferred;
}

export interface Check<R extends Unjudged> {
  /** The newest occurrence of the plan. */
  readonly release: R;
  /** Times in a row without a verdict. */
  readonly failures: number;
  /** By the monotonic clock. */
  readonly notBefore: number;
}

/** Superseded ones that nobody has or will have, as far as is known, and that are kept all the same: word of pods comes late. */
const KEPT_SPARE = 16;

export function planIdOf({ deferred }: Unjudged): Digest {
  return deferred.candidate.rendered.plan.id;
}

/** What HAProxy is still to be asked about in one term, by plan id: an identical render is the same question. */
export class PendingChecks<R extends Unjudged> {
  /** The newest last. */
  readonly #checks = new Map<Digest, Check<R>>();
  /** What each pod reported last: one that does not answer still holds it. */
  readonly #reported = new Map<string, Digest>();
  readonly #pods: () => readonly Pod[];
  readonly #underWay: () => readonly Digest[];
  #newest: Digest | undefined;

  /** @param underWay Plans that pods may run any moment, besides those that they report. */
  constructor(pods: () => readonly Pod[], underWay: () => readonly Digest[]) {
    this.#pods = pods;
    this.#underWay = underWay;
  }

  /** What HAProxy is to be asked about as things are: the newest, and whatever a pod holds. */
  get planIds(): readonly Digest[] {
    const held = this.#held();
    return [...this.#checks.keys()].filter((id) => id === this.#newest || held.has(id));
  }

  add(release: R): void {
    const id = planIdOf(release);
    const { failures = 0, notBefore = -Infinity } = this.#checks.get(id) ?? {};
    this.#checks.delete(id);
    this.#checks.set(id, { release, failures, notBefore });
    this.superseded();
    this.#newest = id;
  }

  /** What was newest is so no more: something that needs no check went out. */
  superseded(): void {
    this.#newest = undefined;
    this.#prune();
  }

  get(id: Digest): Check<R> | undefined {
    return this.#checks.get(id);
  }

  isNewest(id: Digest): boolean {
    return this.#newest === id;
  }

  /** Whether HAProxy is still to answer about what went out last. */
  get awaitsNewest(): boolean {
    return this.#newest !== undefined && this.#checks.has(this.#newest);
  }

  /** The newest, then whatever a pod holds, newer ones first. */
  next(now: number): Check<R> | undefined {
    const held = this.#held();
    return [...this.#checks]
      .toReversed()
      .find(([id, { notBefore }]) => notBefore <= now && (id === this.#newest || held.has(id)))?.[1];
  }

  settled(id: Digest): void {
    this.#checks.delete(id);
  }

  /** There was no verdict. */
  postponed(id: Digest, until: (failures: number) => number): void {
    const check = this.#checks.get(id);
    if (check === undefined) return;
    const failures = check.failures + 1;
    // In its place: it became no newer.
    this.#checks.set(id, { ...check, failures, notBefore: until(failures) });
  }

  #held(): ReadonlySet<Digest> {
    const pods = this.#pods();
    const names = new Set(pods.map(({ name }) => name));
    for (const name of this.#reported.keys()) if (!names.has(name)) this.#reported.delete(name);
    for (const { name, applied } of pods) if (applied !== undefined) this.#reported.set(name, applied);
    return new Set(this.#reported.values());
  }

  #prune(): void {
    const wanted = new Set([...this.#held(), ...this.#underWay()]);
    const spare = [...this.#checks.keys()].filter((id) => !wanted.has(id));
    for (const id of spare.slice(0, -KEPT_SPARE)) this.#checks.delete(id);
  }
}

import type { Finding, RenderInput, Rendered } from '../contract/index.ts';
import type { KeptProfiles } from '../state/index.ts';
import type { Cause } from './changed-objects.ts';

/** A render that may go to the pods, with what it was made from and what it answers. */
export interface Release {
  readonly rendered: Rendered;
  readonly input: RenderInput;
  readonly cause: Cause;
}

/**
 * Which render went out last, and which is the last one that all judges passed. Whatever moves with a deployment moves with the
 * accepted one: what templates see as `current`, kept profiles, and everything that is published.
 */
export class Releases {
  readonly #profiles: KeptProfiles;
  /** When each went out, in a row. */
  readonly #order = new WeakMap<Release, number>();
  #count = 0;
  #dispatched: Release | undefined;
  #accepted: Release | undefined;
  #findings: readonly Finding[] = [];

  constructor(profiles: KeptProfiles) {
    this.#profiles = profiles;
  }

  /** What pods are to run: the last accepted one, or one that a judge is still to answer about. */
  get dispatched(): Release | undefined {
    return this.#dispatched;
  }

  /** The last one that every judge passed. */
  get accepted(): Release | undefined {
    return this.#accepted;
  }

  /** Warnings on the accepted one. */
  get findings(): readonly Finding[] {
    return this.#findings;
  }

  /** What one render hands to the next. */
  get carried(): Pick<RenderInput, 'current' | 'dispatched' | 'retainedProfiles'> {
    const retainedProfiles = this.#profiles.all;
    if (this.#accepted === undefined) return retainedProfiles.length === 0 ? {} : { retainedProfiles };
    return {
      current: this.#accepted.rendered.plan,
      retainedProfiles,
      ...(this.#dispatched !== this.#accepted &&
        this.#dispatched && { dispatched: this.#dispatched.rendered.plan }),
    };
  }

  dispatch(release: Release): void {
    this.#order.set(release, ++this.#count);
    this.#dispatched = release;
  }

  /** False for one that a newer accepted one has overtaken. */
  accept(release: Release, findings: readonly Finding[]): boolean {
    const accepted = this.#accepted;
    if (accepted !== undefined && this.#order.get(release)! < this.#order.get(accepted)!) return false;
    this.#accepted = release;
    this.#findings = findings;
    this.#profiles.accepted(release.rendered);
    return true;
  }

  /** A plan turned out wrong: pods are to run the accepted one, if it is this plan that they were to run. */
  withdraw(planId: string): void {
    if (this.#dispatched?.rendered.plan.id === planId) this.#dispatched = this.#accepted;
  }

  /** What a former term did not come to know is nobody's any more. */
  settleForAccepted(): void {
    this.#dispatched = this.#accepted;
  }

  /** Nobody has them, so they must not be what holds up the others. True if there were any. */
  forgetProfiles(): boolean {
    return this.#profiles.forget();
  }
}

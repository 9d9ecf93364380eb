import type { Clock } from '../contract/index.ts';

/** After so many refusals a namespace waits by itself; up to then its changes are tried together with everybody's. */
const FORGIVEN = 3;
const FIRST_MS = 1_000;
const LONGEST_MS = 5 * 60_000;
/** After so long without a refusal, and the wait, all is forgotten. */
const FORGOTTEN_MS = 10 * 60_000;

export interface Offence {
  readonly namespace: string;
  readonly count: number;
  /** Of the last one, milliseconds since the epoch. */
  readonly at: number;
  /** Those whose objects were refused. */
  readonly watches: readonly string[];
}

function waitAfter(count: number): number {
  return count < FORGIVEN ? 0 : Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(count - FORGIVEN, 16));
}

/** Namespaces whose objects were refused of late: whoever keeps doing so is not to keep others waiting. */
export class Offenders {
  readonly #clock: Pick<Clock, 'wall'>;
  readonly #offences = new Map<string, Offence>();

  constructor(clock: Pick<Clock, 'wall'>) {
    this.#clock = clock;
  }

  get all(): readonly Offence[] {
    this.#forget();
    return [...this.#offences.values()];
  }

  /** Namespaces that are tried by themselves. */
  get repeated(): readonly Offence[] {
    return this.all.filter(({ count }) => count >= FORGIVEN);
  }

  isRepeated(namespace: string): boolean {
    return this.repeated.some((offence) => offence.namespace === namespace);
  }

  /** When a changed object of the namespace may be tried, milliseconds since the epoch. */
  notBefore(namespace: string): number {
    this.#forget();
    const offence = this.#offences.get(namespace);
    return offence === undefined ? 0 : offence.at + waitAfter(offence.count);
  }

  restore(offences: readonly Offence[]): void {
    for (const offence of offences) this.#offences.set(offence.namespace, offence);
    this.#forget();
  }

  /** Some objects of the namespace were refused together. */
  add(namespace: string, watches: readonly string[]): void {
    this.#forget();
    const before = this.#offences.get(namespace);
    this.#offences.set(namespace, {
      namespace,
      count: (before?.count ?? 0) + 1,
      at: this.#clock.wall(),
      watches: [...new Set([...(before?.watches ?? []), ...watches])].sort(),
    });
  }

  #forget(): void {
    const now = this.#clock.wall();
    for (const offence of this.#offences.values()) {
      const { namespace, at, count } = offence;
      // A clock that was set back must not make anybody wait for longer than the longest.
      if (at > now) this.#offences.set(namespace, { ...offence, at: now });
      if (now - at > FORGOTTEN_MS + waitAfter(count)) this.#offences.delete(namespace);
    }
  }
}

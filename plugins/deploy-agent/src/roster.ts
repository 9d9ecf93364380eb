import type { Log } from '@haptic/core/contract';
import type { PodEndpoint } from './endpoints.ts';
import type { PodSession } from './pod-session.ts';

export interface RosterFacts {
  /** @param signal Aborts when the pod has left. */
  readonly open: (endpoint: PodEndpoint, signal: AbortSignal) => PodSession;
  readonly log: Log;
  /** Pods have come or gone, or are about to go. */
  readonly changed: () => void;
}

interface Place {
  readonly session: PodSession;
  readonly left: AbortController;
  readonly following: Promise<void>;
}

/** The pods that there are, with one session each for as long as they stay. */
export class Roster {
  readonly #facts: RosterFacts;
  readonly #places = new Map<string, Place>();
  readonly #leaving = new Set<Promise<void>>();
  readonly #known = Promise.withResolvers<void>();
  #sessions: readonly PodSession[] = [];
  #isKnown = false;

  constructor(facts: RosterFacts) {
    this.#facts = facts;
  }

  get sessions(): readonly PodSession[] {
    return this.#sessions;
  }

  get isKnown(): boolean {
    return this.#isKnown;
  }

  /** Resolves when it is known which pods there are. */
  get known(): Promise<void> {
    return this.#known.promise;
  }

  byName(name: string): PodSession | undefined {
    return this.#sessions.find((session) => session.name === name);
  }

  /** All pods that there are from now on. */
  set(endpoints: readonly PodEndpoint[]): void {
    const ids = new Set(endpoints.map(({ id }) => id));
    for (const id of this.#places.keys()) if (!ids.has(id)) this.#leave(id);
    for (const endpoint of endpoints) {
      const place = this.#places.get(endpoint.id) ?? this.#enter(endpoint);
      place.session.stops = endpoint.stops ?? false;
    }
    this.#sessions = [...this.#places.values()].map(({ session }) => session);
    this.#isKnown = true;
    this.#known.resolve();
    this.#facts.changed();
  }

  /** When nothing runs for anybody any more. */
  async close(): Promise<void> {
    for (const id of this.#places.keys()) this.#leave(id);
    await Promise.all(this.#leaving);
  }

  #enter(endpoint: PodEndpoint): Place {
    const left = new AbortController();
    const session = this.#facts.open(endpoint, left.signal);
    const following = session.follow().catch((error: unknown) => {
      if (!left.signal.aborted)
        this.#facts.log.error({ err: error, pod: session.name }, 'lost track of a pod');
    });
    const place = { session, left, following };
    this.#places.set(endpoint.id, place);
    return place;
  }

  #leave(id: string): void {
    const { session, left, following } = this.#places.get(id)!;
    this.#places.delete(id);
    left.abort();
    const leaving = following
      .then(() => session.close())
      .catch((error: unknown) =>
        this.#facts.log.error({ err: error, pod: session.name }, 'a connection did not end'),
      )
      .finally(() => this.#leaving.delete(leaving));
    this.#leaving.add(leaving);
  }
}

import type { Clock, Fleet, Outcome, Pod } from '@haptic/core/contract';
import { atMost } from './at-most.ts';
import { isBelievable } from './epoch.ts';
import type { PodSession } from './pod-session.ts';
import type { Roster } from './roster.ts';
import type { Rollout } from './waves/rollout.ts';

type Facts = ReturnType<Fleet['facts']>;

export interface FleetParts {
  readonly roster: Roster;
  readonly rollout: Rollout;
  readonly listeners: Set<() => void>;
  readonly clock: Clock;
  /** Of local pods, before they answer. */
  readonly paths?: Facts['paths'] | undefined;
  /**
   * Whether a pod whose agent does not answer is one to deploy to: one that is listed by hand is, always. One that has just been
   * started would only refuse the connection, and then be left alone for a while.
   */
  readonly counts: (session: PodSession) => boolean;
}

/** The fleet as the core sees it. */
export class AgentFleet implements Fleet {
  readonly #parts: FleetParts;
  /** What was known of pods last. */
  #last: { readonly paths: Facts['paths']; readonly haproxyVersion: string | undefined } = {
    paths: UNKNOWN_PATHS,
    haproxyVersion: undefined,
  };

  constructor(parts: FleetParts) {
    this.#parts = parts;
  }

  pods(): readonly Pod[] {
    const { roster, rollout, counts } = this.#parts;
    return roster.sessions
      .filter((session) => session.state !== undefined || counts(session))
      .map((session) => {
        const held = rollout.heldPlan(session);
        return { ...session.pod(), ...(held !== undefined && { held }) };
      });
  }

  /** Pods that fall silent, or leave, are expected back as they were: what is rendered meanwhile is what they get first. */
  facts(): Facts {
    const { roster, paths } = this.#parts;
    const { sessions } = roster;
    const answering = sessions.find(({ state }) => state !== undefined);
    const lowest = sessions.flatMap(({ version }) => version ?? []).toSorted(compareVersions)[0];
    const known = paths ?? answering?.paths ?? sessions.find((session) => session.paths !== undefined)?.paths;
    this.#last = {
      paths: known ?? this.#last.paths,
      haproxyVersion: lowest ?? this.#last.haproxyVersion,
    };
    const { haproxyVersion } = this.#last;
    return { paths: this.#last.paths, ...(haproxyVersion !== undefined && { haproxyVersion }) };
  }

  async highestEpoch(signal: AbortSignal): Promise<number> {
    const { roster, clock } = this.#parts;
    await atMost(LISTED_MS, roster.known, clock, signal);
    const asked = roster.sessions.map((session) => session.asked);
    await atMost(REACHABLE_MS, Promise.all(asked), clock, signal);
    const seen = roster.sessions.map(({ state }) => state?.token?.epoch ?? 0);
    return Math.max(0, ...seen.filter((epoch) => isBelievable(epoch)));
  }

  onChange(listener: () => void): () => void {
    const { listeners } = this.#parts;
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }

  async revert(plan: string, signal: AbortSignal): Promise<readonly Outcome[]> {
    return await this.#parts.rollout.revert(plan, signal);
  }
}

/** For a process that has just started; whoever waits for a hand-over knows the pods. Milliseconds. */
const LISTED_MS = 2_000;

/**
 * A pod that has said nothing by then counts as unreachable, milliseconds: a hand-over waits for it. Should it know of a higher epoch
 * after all, the term is raised above that when it says so.
 */
const REACHABLE_MS = 300;

/** Until a pod answered: nothing is deployed before, and its answer is a change of the fleet. */
const UNKNOWN_PATHS = { base: '/etc/haproxy', workerSocket: '/var/run/haproxy/worker.sock' };

function compareVersions(a: string, b: string): number {
  const [left, right] = [a, b].map((version) => version.split('.').map((part) => Number.parseInt(part, 10)));
  for (let index = 0; index < 3; index += 1) {
    const difference = (left?.[index] ?? 0) - (right?.[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

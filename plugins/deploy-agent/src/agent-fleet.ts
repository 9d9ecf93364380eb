import type { Fleet, Outcome, Pod } from '@haptic/core/contract';
import { once } from 'node:events';
import type { PodSession } from './pod-session.ts';
import type { Rollout } from './waves/rollout.ts';

/** The fleet as the core sees it. */
export class AgentFleet implements Fleet {
  readonly #sessions: readonly PodSession[];
  readonly #rollout: Rollout;
  readonly #paths: ReturnType<Fleet['facts']>['paths'] | undefined;
  readonly #listeners: Set<() => void>;

  constructor(
    sessions: readonly PodSession[],
    rollout: Rollout,
    listeners: Set<() => void>,
    paths: ReturnType<Fleet['facts']>['paths'] | undefined,
  ) {
    this.#sessions = sessions;
    this.#rollout = rollout;
    this.#listeners = listeners;
    this.#paths = paths;
  }

  pods(): readonly Pod[] {
    // A local pod that does not answer is being started: an apply would only meet a socket that is not there yet.
    const isLocal = this.#paths !== undefined;
    return this.#sessions
      .filter(({ state }) => !isLocal || state !== undefined)
      .map((session) => {
        const held = this.#rollout.heldPlan(session.name);
        return { ...session.pod(), ...(held !== undefined && { held }) };
      });
  }

  facts(): ReturnType<Fleet['facts']> {
    const states = this.#sessions.flatMap(({ state }) => (state === undefined ? [] : [state]));
    const versions = states.flatMap(({ haproxyVersion }) =>
      haproxyVersion === null ? [] : [haproxyVersion],
    );
    const lowest = versions.toSorted(compareVersions)[0];
    return {
      paths: this.#paths ?? states[0]?.paths ?? UNKNOWN_PATHS,
      ...(lowest !== undefined && { haproxyVersion: lowest }),
    };
  }

  async highestEpoch(signal: AbortSignal): Promise<number> {
    const enough = AbortSignal.any([signal, AbortSignal.timeout(REACHABLE_MS)]);
    await Promise.race([Promise.all(this.#sessions.map(({ answered }) => answered)), once(enough, 'abort')]);
    return Math.max(0, ...this.#sessions.map(({ state }) => state?.token?.epoch ?? 0));
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  async revert(plan: string, signal: AbortSignal): Promise<readonly Outcome[]> {
    return await this.#rollout.revert(plan, signal);
  }
}

/** A pod that has not answered for the first time by then counts as unreachable, milliseconds. */
const REACHABLE_MS = 2_000;

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

import type { Outcome } from '@haptic/core/contract';
import type { AgentSettings } from '../agent-settings.ts';
import { ReloadLane } from './reload-lane.ts';
import { WaveGroup, type Member, type Place, type Trial, type WaveOrder } from './wave-group.ts';

export interface WavesFacts {
  /** Milliseconds, monotonic. */
  readonly now: () => number;
  readonly settings: () => AgentSettings['waves'];
  /** Pods whose agents answer. */
  readonly members: () => readonly Member[];
  /** A pod is held back no longer, or for another reason. */
  readonly released: () => void;
}

/** Lets an order go, or says why its pod has to wait. */
export type Entry =
  | { readonly kind: 'go'; readonly order: WaveOrder; readonly place: Place }
  | { readonly kind: 'held'; readonly reason: string; readonly message?: string };

interface Held {
  readonly order: WaveOrder;
  readonly reason: string;
}

/** A leader that is sent one new thing after the other holds the others back for so many times the soak at most. */
const PATIENCE = 5;

/**
 * Which pods may get what now: something new goes to one pod of each HAProxy version first, and never do all pods reload at once.
 * Nobody waits in here: a pod that is held back is planned for anew when it is released, so that it gets the newest plan.
 */
export class Waves {
  readonly lane: ReloadLane;
  readonly #facts: WavesFacts;
  readonly #groups = new Map<string, WaveGroup>();
  /** By pod, in the order in which they came. */
  readonly #held = new Map<string, Held>();

  constructor(facts: WavesFacts) {
    this.#facts = facts;
    const width = (): number => Math.min(facts.settings().size, facts.members().length - 1);
    this.lane = new ReloadLane(facts.now, width);
  }

  /** The plan that a pod waits for. */
  heldPlan(pod: string): string | undefined {
    return this.#held.get(pod)?.order.planId;
  }

  enter(order: WaveOrder): Entry {
    const place = this.#judge(order);
    this.#held.delete(order.pod);
    if (place.kind === 'wait' || (order.loads && !this.lane.tryTake(order.pod))) {
      const reason = this.#reasonOf(place);
      this.#held.set(order.pod, { order, reason });
      const message = place.kind === 'wait' ? place.halted : undefined;
      return { kind: 'held', reason, ...(message !== undefined && { message }) };
    }
    this.#group(order.version).began(order, place, this.#facts.now());
    return { kind: 'go', order, place };
  }

  /** What became of an order that was let go. A trial: the pod has yet to prove itself. */
  ended(
    { order, place }: Extract<Entry, { kind: 'go' }>,
    outcome: Pick<Outcome, 'result' | 'stage' | 'message'>,
  ): Trial | undefined {
    if (order.loads) this.lane.free(order.pod);
    const trial = this.#group(order.version).ended(order, place, outcome);
    this.recheck();
    return trial;
  }

  /** The order of a pod is one that nothing is to be done for. */
  settled(pod: string): void {
    this.#held.delete(pod);
  }

  /** How long the pod of this trial is to be watched from now on. */
  soakOf({ since }: Trial): number {
    const { settings, now } = this.#facts;
    const { soak } = settings();
    return Math.min(soak, Math.max(0, since + PATIENCE * soak - now()));
  }

  /** What watching a pod told; without words it is sane. False: it tries something else by now. */
  watched(version: string | undefined, trial: Trial, insane?: string): boolean {
    const group = this.#group(version);
    if (group.trial !== trial) return false;
    if (insane === undefined) group.proved(trial);
    else group.fellSick(trial, insane);
    this.recheck();
    return true;
  }

  /** Nobody knows how the pod fares, or cares any more. */
  abandon(version: string | undefined, trial: Trial): void {
    this.#group(version).abandon(trial);
    this.recheck();
  }

  /** Whether the pod is still the one that holds the others back since it is not well. */
  isSick(version: string | undefined, pod: string): boolean {
    return this.#group(version).sick?.pod === pod;
  }

  recovered(version: string | undefined, pod: string): void {
    this.#group(version).recovered(pod);
    this.recheck();
  }

  /** Nobody shall get this plan any more. */
  withdraw(planId: string): void {
    for (const group of this.#groups.values()) {
      if (group.trial?.planId === planId) group.abandon(group.trial);
    }
    for (const [pod, { order }] of this.#held) if (order.planId === planId) this.#held.delete(pod);
    this.recheck();
  }

  /** Another term: what went well, or did not, in the one before is nothing to go by. */
  reset(): void {
    this.#groups.clear();
    this.#held.clear();
  }

  /** Releases pods that need not wait any more, or would be told another reason. */
  recheck(): void {
    const members = this.#facts.members();
    for (const [version, group] of this.#groups) {
      group.keepOnly(members.filter((member) => keyOf(member.version) === version));
    }
    const ids = new Set(members.map(({ id }) => id));
    let isReleased = false;
    for (const [pod, { order, reason }] of this.#held) {
      if (!ids.has(pod)) {
        // Nobody keeps a turn for it; it asks anew when it answers again.
        this.#held.delete(pod);
        continue;
      }
      const place = this.#judge(order);
      const mayGo = place.kind !== 'wait' && (!order.loads || this.lane.isFreeFor(pod));
      if (!mayGo && this.#reasonOf(place) === reason) continue;
      if (mayGo && order.loads) this.lane.reserve(pod);
      this.#held.delete(pod);
      isReleased = true;
    }
    if (isReleased) this.#facts.released();
  }

  #judge(order: WaveOrder): Place {
    const members = this.#facts.members().filter(({ version }) => version === order.version);
    return this.#group(order.version).judge(order, members);
  }

  #reasonOf(place: Place): string {
    if (place.kind !== 'wait') return 'wave_turn';
    const name = this.#facts.members().find(({ id }) => id === place.on)?.name ?? place.on;
    return `${place.halted === undefined ? 'wave_waits' : 'wave_halted'}:${name}`;
  }

  #group(version: string | undefined): WaveGroup {
    const key = keyOf(version);
    const known = this.#groups.get(key) ?? new WaveGroup();
    this.#groups.set(key, known);
    return known;
  }
}

function keyOf(version: string | undefined): string {
  return version ?? '';
}

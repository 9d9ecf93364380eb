import type { Outcome } from '@haptic/core/contract';
import { RecentSet } from './recent-set.ts';

/** A pod whose agent answers. */
export interface Member {
  /** Of this very pod: names are taken again. */
  readonly id: string;
  /** For people. */
  readonly name: string;
  /** Of its HAProxy: what one version takes says nothing about another. */
  readonly version: string | undefined;
  /** The plan that its worker is in step with. */
  readonly runs: string | undefined;
}

/** What a pod is to get, as far as waves are concerned. */
export interface WaveOrder {
  /** Its id. */
  readonly pod: string;
  readonly version: string | undefined;
  readonly planId: string;
  /** It needs a reload. */
  readonly loads: boolean;
  /** Of its operations. */
  readonly kinds: readonly string[];
}

/**
 * `plain`: nothing about it is new. `follow`: another pod loaded the same and is sane. `alone`: new, and there is nobody to go after.
 * `lead`: new, and the others go when this one is sane. `wait`: for the pod that leads.
 */
export type Place =
  | { readonly kind: 'plain' | 'follow' | 'alone' | 'lead' }
  | { readonly kind: 'wait'; readonly on: string; readonly halted?: string };

/** One pod that tries something for the others. */
export interface Trial {
  /** Its id. */
  readonly pod: string;
  readonly planId: string;
  readonly kinds: readonly string[];
  /** When the first of the trials that followed each other without an end began. */
  readonly since: number;
}

interface Halt {
  readonly pod: string;
  readonly planId: string;
  readonly message: string;
  /** The pod has the plan, and is not well. */
  readonly isSick: boolean;
}

/** Where the agent, or HAProxy, judged the plan; anywhere else it is the pod that cannot take any. */
const VERDICT_STAGES: ReadonlySet<string> = new Set(['reload', 'bind', 'verify']);

/** The pods of one HAProxy version: which of them tries what is new, and what that told. */
export class WaveGroup {
  /** Kinds of changes that went well in this term; one that was not used for long is news again. */
  readonly #seen = new RecentSet(4_096);
  /** What pods were let go to without having anything new in it. */
  readonly #taken = new Map<string, string>();
  #trial: Trial | undefined;
  #halt: Halt | undefined;

  get trial(): Trial | undefined {
    return this.#trial;
  }

  /** The pod that is not well, and what it has. */
  get sick(): Pick<Halt, 'pod' | 'planId'> | undefined {
    return this.#halt?.isSick === true ? this.#halt : undefined;
  }

  judge(order: WaveOrder, members: readonly Member[]): Place {
    const { pod, planId, loads } = order;
    const isKnown = this.#seen.hasAll(order.kinds);
    if (!loads && isKnown) return { kind: 'plain' };
    const others = members.filter(({ id }) => id !== pod);
    if (loads && others.some((member) => this.#proves(member, planId))) return { kind: 'follow' };
    const halt = this.#halt;
    // Sent once more since it lost it: that proves nothing.
    if (halt?.isSick === true && halt.pod === pod && halt.planId === planId) return { kind: 'follow' };
    if (halt !== undefined && halt.pod !== pod && others.some(({ id }) => id === halt.pod)) {
      const isTold = halt.isSick || halt.planId === planId;
      return { kind: 'wait', on: halt.pod, ...(isTold && { halted: halt.message }) };
    }
    if (this.#trial !== undefined && this.#trial.pod !== pod) return { kind: 'wait', on: this.#trial.pod };
    return { kind: others.length === 0 ? 'alone' : 'lead' };
  }

  /** The order is on its way. */
  began({ pod, planId, kinds }: WaveOrder, { kind }: Place, now: number): void {
    if (kind === 'plain') this.#taken.set(pod, planId);
    else this.#taken.delete(pod);
    if (kind !== 'lead' || this.#isTried(pod, planId)) return;
    this.#trial = { pod, planId, kinds, since: this.#trial?.since ?? now };
  }

  /** What became of it. The trial that is still to prove itself, if it was one. */
  ended(
    order: WaveOrder,
    { kind }: Place,
    outcome: Pick<Outcome, 'result' | 'stage' | 'message'>,
  ): Trial | undefined {
    const { pod, planId, kinds } = order;
    const { result, stage, message = '' } = outcome;
    const isTaken = result !== 'rejected' && result !== 'unreachable';
    if (isTaken) this.#taken.set(pod, planId);
    else this.#taken.delete(pod);
    // What it could not take is no matter any more, or it could not be asked.
    if (this.#halt?.pod === pod && !this.#halt.isSick) this.#halt = undefined;
    if (kind === 'alone' && isTaken) this.#seen.add(kinds);
    if (kind !== 'lead' || !this.#isTried(pod, planId)) return undefined;
    if (isTaken) return this.#trial;
    this.#trial = undefined;
    if (result === 'rejected' && VERDICT_STAGES.has(stage ?? ''))
      this.#halt = { pod, planId, message, isSick: false };
    return undefined;
  }

  /** The pod was watched for a while. */
  proved(trial: Trial): void {
    if (this.#trial !== trial) return;
    this.#seen.add(trial.kinds);
    this.#trial = undefined;
    this.#halt = undefined;
  }

  fellSick({ pod, planId }: Pick<Trial, 'pod' | 'planId'>, message: string): void {
    this.#trial = undefined;
    this.#halt = { pod, planId, message, isSick: true };
  }

  /** It was in step again, and well, when somebody looked later. */
  recovered(pod: string): void {
    if (this.#halt?.pod === pod) this.#halt = undefined;
  }

  /** Nobody knows what became of it: another pod may try. */
  abandon(trial: Trial): void {
    if (this.#trial === trial) this.#trial = undefined;
  }

  /** A pod that went, or does not answer, leads nobody. */
  keepOnly(members: readonly Member[]): void {
    const ids = new Set(members.map(({ id }) => id));
    for (const id of this.#taken.keys()) if (!ids.has(id)) this.#taken.delete(id);
    if (this.#trial !== undefined && !ids.has(this.#trial.pod)) this.#trial = undefined;
    if (this.#halt !== undefined && !ids.has(this.#halt.pod)) this.#halt = undefined;
  }

  #isTried(pod: string, planId: string): boolean {
    return this.#trial?.pod === pod && this.#trial.planId === planId;
  }

  #proves({ id, runs }: Member, planId: string): boolean {
    if (id === this.#trial?.pod || id === this.sick?.pod) return false;
    return runs === planId || this.#taken.get(id) === planId;
  }
}

import { hash } from 'node:crypto';
import type { RenderPlan } from '@haptic/core/contract';
import type { StoredPlan } from '@haptic/agent/protocol';
import { readStoredPlan } from './plan-schema.ts';

/** More of them at once than a fleet has while it changes. */
const MOST = 8;
/** How many agents may be sending a whole plan at once. */
const READERS = 4;

/** The plans that pods may have: all pods that have the same one share it, however many they are. */
export class KnownPlans {
  readonly #sent = new Map<string, RenderPlan>();
  /** Of other processes, by what their parts hold. */
  readonly #read = new Map<string, WeakRef<RenderPlan>>();
  readonly #waiting: (() => void)[] = [];
  #readers = 0;

  /** This process sends it, so it need never be asked what it is. */
  sent(plan: RenderPlan): void {
    this.#sent.delete(plan.id);
    keep(this.#sent, plan.id, plan);
  }

  byId(id: string): RenderPlan | undefined {
    return this.#sent.get(id);
  }

  /** The plan that an agent keeps, if it is one of ours and the one that it says. */
  read(stored: StoredPlan, id: string): RenderPlan | undefined {
    // An agent may say anything: only what has been checked to hold what its digests say is taken for somebody else's as well.
    const key = isTrue(stored) ? `${id} ${stored.chunks.join()}` : undefined;
    const known = key === undefined ? undefined : this.#read.get(key)?.deref();
    if (known !== undefined) return known;
    const plan = readStoredPlan(stored, id);
    if (plan !== undefined && key !== undefined) keep(this.#read, key, new WeakRef(plan));
    return plan;
  }

  /** Runs `work` when few others ask agents for whole plans: a new leader asks all at once, and each may take long, or be large. */
  async reading<T>(work: () => Promise<T>): Promise<T> {
    if (this.#readers >= READERS) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#readers += 1;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#readers -= 1;
      else next();
    }
  }
}

function keep<T>(map: Map<string, T>, key: string, value: T): void {
  map.set(key, value);
  for (const oldest of [...map.keys()].slice(0, -MOST)) map.delete(oldest);
}

function isTrue({ chunks, data }: StoredPlan): boolean {
  return chunks.every((digest) => {
    const text = data[digest];
    return text !== undefined && hash('sha256', Buffer.from(text, 'base64'), 'hex') === digest;
  });
}

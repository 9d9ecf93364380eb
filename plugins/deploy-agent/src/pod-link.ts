import type { Clock, Log, RenderPlan } from '@haptic/core/contract';
import type { AgentState } from '@haptic/agent/protocol';
import { AgentClient, AgentUnreachable, type AgentEndpoint, type StateRequest } from './agent-client.ts';
import type { AgentSettings } from './agent-settings.ts';
import type { KnownPlans } from './known-plans.ts';
import { PodKnowledge } from './pod-knowledge.ts';

export interface LinkFacts {
  readonly endpoint: AgentEndpoint;
  readonly settings: () => AgentSettings;
  readonly plans: KnownPlans;
  readonly log: Log;
  readonly clock: Clock;
  /** Something about the pod changed that this process did not do. */
  readonly changed: () => void;
}

export const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;
/** How long an agent is asked to hold its answer while it does not know what a worker runs that has just started. */
const UNSETTLED_MS = 1_000;
/** Longer than an agent waits for a HAProxy that does not answer it. */
const BRIEF_MS = 10_000;

/** The way to one pod's agent, and what it reports. */
export class PodLink {
  readonly client: AgentClient;
  readonly knowledge = new PodKnowledge();
  readonly #facts: LinkFacts;
  readonly #answered = Promise.withResolvers<void>();
  readonly #asked = Promise.withResolvers<void>();
  #seen = '';
  #nextCheck: number;

  constructor(facts: LinkFacts) {
    this.#facts = facts;
    this.client = new AgentClient(facts.endpoint, () => facts.settings().applyTimeout);
    this.#nextCheck = facts.clock.now() + facts.settings().driftInterval;
  }

  get name(): string {
    return this.#facts.endpoint.name;
  }

  /** Resolves with the first state that the agent reports. */
  get answered(): Promise<void> {
    return this.#answered.promise;
  }

  /** Resolves when the agent has answered for the first time, or has not. */
  get asked(): Promise<void> {
    return this.#asked.promise;
  }

  /** Undefined while the agent does not answer. */
  get state(): AgentState | undefined {
    return this.knowledge.state;
  }

  /** Follows the agent's state until the signal aborts. `news` is called after each answer. */
  async follow(signal: AbortSignal, news: (state: AgentState) => void): Promise<void> {
    const { clock, log } = this.#facts;
    let pause = FIRST_PAUSE_MS;
    while (!signal.aborted) {
      try {
        const next = await this.client.state(this.#question(), signal);
        // An answer that an apply has overtaken; or the agent began anew. Asking once more tells.
        const stale = next.generation < (this.state?.generation ?? 0);
        if (stale) await this.ask(signal);
        else this.knowledge.learn(next);
        await this.learnPlan(signal);
        pause = FIRST_PAUSE_MS;
        this.#answered.resolve();
        this.#asked.resolve();
        if (this.state !== undefined) news(this.state);
        this.report();
        // An agent that answers long polls at once must not keep us busy.
        await clock.sleep(10, signal);
      } catch (error) {
        if (signal.aborted) return;
        if (!(error instanceof AgentUnreachable)) throw error;
        this.#asked.resolve();
        if (this.state !== undefined) log.warn({ pod: this.name, err: error }, 'the agent does not answer');
        this.knowledge.lose();
        this.report();
        await clock.sleep(pause, signal).catch(() => {});
        pause = Math.min(LONGEST_PAUSE_MS, pause * 2);
      }
    }
  }

  /** @throws AgentUnreachable */
  async ask(signal: AbortSignal): Promise<AgentState> {
    const state = await this.client.state({ plan: false }, signal);
    this.knowledge.learn(state);
    return state;
  }

  /** As `ask`, of an agent that others wait for: one that says nothing for a while counts as away. @throws AgentUnreachable */
  async askBriefly(signal: AbortSignal): Promise<AgentState> {
    const limit = AbortSignal.timeout(BRIEF_MS);
    try {
      return await this.ask(AbortSignal.any([signal, limit]));
    } catch (error) {
      signal.throwIfAborted();
      this.knowledge.lose();
      this.report();
      if (!limit.aborted) throw error;
      throw new AgentUnreachable(`the agent said nothing for ${BRIEF_MS} ms`, { cause: error });
    }
  }

  /** Asks for the stored plan when the pod has one that this process did not send. */
  async learnPlan(signal: AbortSignal): Promise<void> {
    if (this.#recall()) return;
    const { plans } = this.#facts;
    await plans.reading(async () => {
      // It may have been given another one meanwhile.
      if (this.#recall()) return;
      const { plan, ...state } = await this.client.state({ plan: true }, signal);
      const { applied } = state;
      this.knowledge.learn(state);
      const stored = plan == null || applied === null ? undefined : plans.read(plan, applied);
      if (stored !== undefined) this.#remember(stored);
    });
  }

  /** Whether it is known here what the pod has. */
  #recall(): boolean {
    const { knowledge } = this;
    if (!knowledge.isForeign) return true;
    const sent = this.#facts.plans.byId(this.state?.applied ?? '');
    if (sent !== undefined) this.#remember(sent);
    return sent !== undefined;
  }

  #remember(plan: RenderPlan): void {
    this.knowledge.remember(plan);
    // What was reported before can be understood by it.
    if (this.state !== undefined) this.knowledge.learn(this.state);
  }

  /** Tells the core when there is something else to look at than before. */
  report(): void {
    const signature = this.knowledge.signature();
    if (signature === this.#seen) return;
    this.#seen = signature;
    this.#facts.changed();
  }

  /** What is reported by now is what this process did. */
  noteSeen(): void {
    this.#seen = this.knowledge.signature();
  }

  /** Held by the agent until there is news or the files are to be checked. */
  #question(): StateRequest {
    const { clock, settings } = this.#facts;
    const { poll, driftInterval } = settings();
    const untilCheck = this.#nextCheck - clock.now();
    const { state } = this;
    if (untilCheck <= 0) {
      this.#nextCheck = clock.now() + driftInterval;
      return { plan: false, verify: true };
    }
    if (state === undefined) return { plan: false };
    const { generation, worker } = state;
    const mostMs = isUnsettled(state) ? UNSETTLED_MS : poll;
    const waitMs = Math.ceil(Math.min(mostMs, poll, untilCheck));
    return { plan: false, after: { generation, worker: worker?.pid ?? 0, waitMs } };
  }
}

/** What it runs may get known any moment, and that ends no long poll. */
function isUnsettled({ applied, inStep, pendingReload }: AgentState): boolean {
  return applied !== null && !inStep && pendingReload === null;
}

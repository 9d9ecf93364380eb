import type { DeployPlan, Outcome, Pod, Rendered } from '@haptic/core/contract';
import type { AgentState } from '@haptic/agent/protocol';
import { AgentUnreachable } from './agent-client.ts';
import { Confirmations } from './confirmations.ts';
import type { PodEndpoint } from './endpoints.ts';
import type { Epoch } from './epoch.ts';
import type { Order } from './order.ts';
import type { PlanChunks } from './plan-chunks.ts';
import { PodLink, type LinkFacts } from './pod-link.ts';
import { PodWriter, type Result } from './pod-writer.ts';
import { Tokens } from './tokens.ts';
import { WithdrawnPlans } from './withdrawn-plans.ts';

export interface SessionFacts extends LinkFacts {
  readonly endpoint: PodEndpoint;
  readonly epoch: Epoch;
  /** Aborts when the pod has left. */
  readonly left: AbortSignal;
  readonly chunks: PlanChunks;
}

/** What an agent says of its worker, asked for when that matters. */
export type Health = Pick<AgentState, 'worker' | 'health'>;

/** One HAProxy pod: what its agent reports, and the writes that go to it, one after the other. */
export class PodSession {
  readonly #facts: SessionFacts;
  readonly #link: PodLink;
  readonly #writer: PodWriter;
  readonly #confirmations: Confirmations;
  readonly #withdrawn = new WithdrawnPlans();
  /** It is being taken down: it serves until it is gone, and loads nothing any more. */
  stops = false;
  /** A plan that it is not to get since it stops. */
  spared: string | undefined;
  /** Each write is made for what the one before it left. */
  #turn: Promise<unknown> = Promise.resolve();
  #hasAnswered = false;

  constructor(facts: SessionFacts) {
    const { clock, chunks, epoch, plans } = facts;
    this.#facts = facts;
    this.#link = new PodLink(facts);
    this.#writer = new PodWriter({ link: this.#link, tokens: new Tokens(epoch), plans, chunks, clock });
    this.#confirmations = new Confirmations({ clock, send: (order, signal) => this.#confirm(order, signal) });
  }

  /** Of this very pod: names are taken again. */
  get id(): string {
    return this.#facts.endpoint.id;
  }

  get name(): string {
    return this.#link.name;
  }

  /** Aborts when the pod has left. */
  get left(): AbortSignal {
    return this.#facts.left;
  }

  get hasAnswered(): boolean {
    return this.#hasAnswered;
  }

  /** Resolves with the first state that the agent reports. */
  get answered(): Promise<void> {
    return this.#link.answered;
  }

  /** Resolves when the agent has answered for the first time, or has not. */
  get asked(): Promise<void> {
    return this.#link.asked;
  }

  /** Undefined while the agent does not answer. */
  get state(): AgentState | undefined {
    return this.#link.state;
  }

  /** Of its HAProxy, as it answered last. */
  get version(): string | undefined {
    return this.#link.knowledge.version;
  }

  /** Where its files are, as it answered last. */
  get paths(): AgentState['paths'] | undefined {
    return this.#link.knowledge.paths;
  }

  /** Of pods of one kind the same is rendered; undefined before it has answered. */
  get kind(): string | undefined {
    const { paths, version } = this;
    return paths && JSON.stringify([version, paths.base, paths.workerSocket]);
  }

  /** The plan that its worker is in step with. */
  get runs(): string | undefined {
    return this.#link.knowledge.runs;
  }

  /** A plan that it carries and shall not, since it was withdrawn while the agent was away. */
  get overdue(): string | undefined {
    return this.state === undefined ? undefined : this.#withdrawn.among(this.state);
  }

  pod(): Pod {
    const { uid } = this.#facts.endpoint;
    return { ...this.#link.knowledge.pod(this.name), ...(uid !== undefined && { uid }) };
  }

  /** Follows the agent's state until the pod has left. */
  async follow(): Promise<void> {
    await this.#link.follow(this.left, (state) => {
      this.#hasAnswered = true;
      this.#writer.learned(state);
      this.#confirmations.resume();
      // It may have been away for so short that nobody saw it.
      if (this.overdue !== undefined) this.#facts.changed();
    });
  }

  /** Asks the agent where it did not answer last. @throws AgentUnreachable */
  async reach(signal: AbortSignal): Promise<void> {
    if (this.state !== undefined) return;
    await this.#link.ask(this.#bounded(signal));
    this.#link.report();
  }

  /** Before it gets a turn that others wait for: whoever is silent must not have it. @throws AgentUnreachable */
  async answersNow(signal: AbortSignal): Promise<void> {
    await this.#link.askBriefly(this.#bounded(signal));
  }

  /** How its worker fares; undefined when the agent does not say. */
  async health(signal: AbortSignal): Promise<Health | undefined> {
    try {
      return await this.#link.client.state({ plan: false, health: true }, signal);
    } catch (error) {
      if (error instanceof AgentUnreachable || signal.aborted) return undefined;
      throw error;
    }
  }

  /** The pod has this already, and is told that all judges passed it; `signal` aborts when nobody wants that any more. */
  confirm(rendered: Rendered, signal: AbortSignal): void {
    this.#confirmations.add({ plan: nothingToDo(this.name, rendered), rendered, validated: true }, signal);
  }

  async deploy(order: Order, signal: AbortSignal): Promise<Outcome> {
    // It is wanted after all.
    this.#withdrawn.drop(order.rendered.plan.id);
    return await this.#write(signal, async (bounded) => {
      const result = await this.#writer.apply(order, bounded);
      // What may still be under way to the pod is older, and its agent refuses it from now on.
      if (result.result !== 'unreachable') this.#withdrawn.clear();
      return result;
    });
  }

  /** The pod shall not keep this plan on a judge's word: it is `overdue` where it does, now or when its agent answers again. */
  withdraw(plan: string): void {
    this.#withdrawn.add(plan);
  }

  /** Another term: what was wrong in the last one is nothing to go by. */
  forgetWithdrawn(): void {
    this.#withdrawn.clear();
  }

  /** Whether the pod, once what is under way to it has ended, carries this plan without its HAProxy having loaded it. */
  async carries(plan: string, signal: AbortSignal): Promise<boolean> {
    return await this.#serially(async () => {
      const { applied, running } = await this.#link.askBriefly(this.#bounded(signal));
      return applied === plan && running !== plan;
    });
  }

  /** Back to the last known good; undefined when the pod does not carry the plan any more. */
  async revert(plan: string, signal: AbortSignal): Promise<Outcome | undefined> {
    let isCarried = true;
    const outcome = await this.#write(signal, async (bounded) => {
      const result = await this.#writer.revert(plan, bounded);
      isCarried = result !== undefined;
      if (result?.result !== 'unreachable') this.#withdrawn.drop(plan);
      return result ?? { result: 'noop', reasons: [] };
    });
    return isCarried ? outcome : undefined;
  }

  async close(): Promise<void> {
    await this.#link.client.close();
  }

  async #write(signal: AbortSignal, work: (signal: AbortSignal) => Promise<Result>): Promise<Outcome> {
    const { clock } = this.#facts;
    const startedAt = clock.now();
    const ended = await this.#serially(() => work(this.#bounded(signal)));
    const result = this.left.aborted && ended.result === 'unreachable' ? { ...ended, message: GONE } : ended;
    this.#link.report();
    return { pod: this.name, durationMs: clock.now() - startedAt, ...result };
  }

  /** False when the agent does not answer. @throws likewise */
  async #confirm(order: Order, signal: AbortSignal): Promise<boolean> {
    const { id } = order.rendered.plan;
    const { result } = await this.#serially(async (): Promise<Pick<Result, 'result'>> => {
      const bounded = this.#bounded(signal);
      await this.reach(bounded);
      const isNews = this.state?.applied === id && this.state.lkg !== id;
      return isNews ? await this.#writer.apply(order, bounded) : { result: 'noop' };
    });
    return result !== 'unreachable';
  }

  #serially<T>(work: () => Promise<T>): Promise<T> {
    const run = this.#turn.then(work);
    this.#turn = run.catch(() => {});
    return run;
  }

  #bounded(signal: AbortSignal): AbortSignal {
    const { left, settings } = this.#facts;
    return AbortSignal.any([signal, left, AbortSignal.timeout(settings().applyTimeout + 5_000)]);
  }
}

const GONE = 'the pod is gone';

function nothingToDo(pod: string, { plan: { id, binds } }: Rendered): DeployPlan {
  return { pod, from: id, mode: 'noop', reasons: [], ops: [], inPlaceOps: [], files: [], binds };
}

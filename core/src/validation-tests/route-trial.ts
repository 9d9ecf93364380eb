import type { RouteExpectation, RouteRequest } from '../contract/config.ts';
import { Refused } from '../contract/errors.ts';
import type { JsonObject } from '../contract/object.ts';
import type { StandIn } from '../contract/render-input.ts';
import type { Rendered } from '../contract/render-plan.ts';
import type { ProbeSite, TrafficProbe } from '../contract/traffic-probe.ts';
import { fails, HOLDS, type Judgement } from './outcome.ts';
import { atAddresses } from './probe-settings.ts';
import { answerFailure, chooseBind } from './route-answer.ts';

/** What a render for a probe has instead of its own. */
export interface ProbeRender {
  readonly settings: JsonObject;
  readonly workerSocket: string;
  readonly standIn: StandIn;
}

export interface RouteTrialParts {
  readonly rendered: Rendered;
  readonly settings: JsonObject;
  readonly probe: TrafficProbe;
  /** @throws Refused, Cancelled */
  readonly render: (parts: ProbeRender) => Promise<Rendered>;
  readonly signal: AbortSignal;
}

type Opened =
  { readonly kind: 'open'; readonly known: readonly string[] } | Exclude<Judgement, { kind: 'holds' }>;

/** The HAProxy that answers the requests of one test. It starts with the first of them. */
export class RouteTrial implements AsyncDisposable {
  readonly #parts: RouteTrialParts;
  readonly #addresses: readonly string[];
  #site: ProbeSite | undefined;
  #opened: Promise<Opened> | undefined;

  constructor(parts: RouteTrialParts) {
    this.#parts = parts;
    this.#addresses = parts.rendered.plan.binds.map(({ address }) => address);
  }

  async judge(request: RouteRequest, expect: RouteExpectation): Promise<Judgement> {
    const opened = await (this.#opened ??= this.#open());
    if (opened.kind !== 'open') return opened;
    const bind = chooseBind(this.#addresses, request);
    if (typeof bind !== 'number') return fails(bind.problem);
    try {
      const answer = await this.#site!.ask(bind, request, this.#parts.signal);
      const failure = answerFailure(request, expect, answer, opened.known);
      return failure === undefined ? HOLDS : fails(failure);
    } catch (error) {
      if (error instanceof Refused) return fails(error.message);
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#site?.[Symbol.asyncDispose]();
  }

  async #open(): Promise<Opened> {
    const { probe, signal } = this.#parts;
    if (this.#addresses.length === 0)
      return {
        kind: 'fails',
        failure: 'no {% bind %} says where HAProxy listens, so there is nobody to ask',
      };
    this.#site = await probe.open(this.#addresses.length, signal);
    const rendered = await this.#render(this.#site);
    if ('kind' in rendered) return rendered;
    try {
      await this.#site.start(rendered, signal);
      return { kind: 'open', known: await this.#site.backends() };
    } catch (error) {
      if (error instanceof Refused) return { kind: 'fails', failure: error.message };
      throw error;
    }
  }

  /** Renders for the site: the same in all but where HAProxy listens and where its servers are. */
  async #render({
    binds,
    workerSocket,
    standIn,
  }: ProbeSite): Promise<Rendered | Exclude<Opened, { kind: 'open' }>> {
    const { settings, render } = this.#parts;
    const moved = new Map(this.#addresses.map((address, index) => [address, binds[index]!]));
    let rendered: Rendered;
    try {
      rendered = await render({ settings: atAddresses(settings, moved), workerSocket, standIn });
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      return unjudgedOpening(`rendering with other addresses to listen on failed: ${error.message}`);
    }
    const left = rendered.plan.binds
      .map(({ address }) => address)
      .filter((address) => !binds.includes(address));
    return left.length === 0
      ? rendered
      : unjudgedOpening(
          `no setting is ${left.map((address) => `"${address}"`).join(' or ')}: a HAProxy of a test listens elsewhere, which takes addresses that templates have from settings`,
        );
  }
}

function unjudgedOpening(reason: string): Exclude<Opened, { kind: 'open' }> {
  return { kind: 'unjudged', reason };
}

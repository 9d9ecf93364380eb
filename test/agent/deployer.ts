import type { DeployPlan, Rendered } from '@haptic/core/contract';
import { PROTOCOL_VERSION, type ApplyMessage } from '@haptic/agent/protocol';
import { diff } from '../../core/src/plan/index.ts';
import { PlanChunks } from '../../plugins/deploy-agent/src/plan-chunks.ts';
import { applyMessage } from '../../plugins/deploy-agent/src/apply-message.ts';
import type { Pod, Reply } from './pod.ts';
import { Renderer, type RendererOptions, type World } from './world.ts';

/** What a controller needs of a pod. */
export type DeployTarget = Pick<Pod, 'port' | 'tlsPort' | 'workerSocket' | 'state' | 'apply'>;

/** As a controller decides it: before 3.4 backends cannot be added at run time. */
export function sparesFor(minor: string): number {
  return minor === '3.0' || minor === '3.2' ? 2 : 0;
}

/** What was planned, and what the agent answered. */
export interface Deployed {
  readonly plan: DeployPlan;
  readonly reply: Reply;
}

/** A controller of one pod, step by step: renders worlds, plans against what it deployed last, and sends. */
export class Deployer {
  readonly #renderer: Renderer;
  readonly #pod: DeployTarget;
  readonly #chunks = new PlanChunks();
  #applied: Rendered | undefined;
  #loaded: ReadonlySet<string> = new Set();
  #sentChunks: ReadonlySet<string> = new Set();
  #token = { epoch: 1, seq: 0 };

  constructor(pod: DeployTarget, options: RendererOptions = {}) {
    this.#pod = pod;
    this.#renderer = new Renderer(pod, options);
  }

  render(world: World): Rendered {
    return this.#renderer.render(world, this.#applied?.plan);
  }

  /** What was deployed last. */
  get applied(): Rendered | undefined {
    return this.#applied;
  }

  async plan(next: Rendered): Promise<DeployPlan> {
    const { ops, haproxyVersion } = await this.#pod.state('plan=0&files=0');
    return diff({
      next: next.plan,
      pod: {
        name: 'pod',
        ops,
        loadedProfiles: this.#loaded,
        ...(haproxyVersion !== null && { haproxyVersion }),
        ...(this.#applied !== undefined && { baseline: this.#applied.plan }),
      },
    });
  }

  /** The message that brings the pod there. */
  message(next: Rendered, plan: DeployPlan): ApplyMessage {
    this.#token = { ...this.#token, seq: this.#token.seq + 1 };
    return applyMessage({
      rendered: next,
      protocol: PROTOCOL_VERSION,
      token: this.#token,
      expect: this.#applied?.plan.id ?? null,
      mode: plan.mode === 'reload' ? 'reload' : 'auto',
      changes: plan,
      validated: false,
      chunks: this.#chunks,
      lacksChunk: (digest) => !this.#sentChunks.has(digest),
      before: this.#applied,
      lacks: ({ digest }) => !this.#applied?.plan.files.some((file) => file.digest === digest),
    });
  }

  /** The message that takes the pod back from what was deployed last to the last known good. */
  revert(): ApplyMessage {
    this.#token = { ...this.#token, seq: this.#token.seq + 1 };
    const applied = this.#applied?.plan.id ?? '';
    return {
      planId: applied,
      textId: '',
      files: [],
      mode: 'revert_lkg',
      expect: applied,
      token: this.#token,
    };
  }

  /** Others wrote to the pod, with tokens up to this one. */
  skipTo(seq: number): void {
    this.#token = { ...this.#token, seq };
  }

  deploy(world: World): Promise<Deployed> {
    return this.bring(this.render(world));
  }

  async bring(next: Rendered): Promise<Deployed> {
    const plan = await this.plan(next);
    const reply = await this.#pod.apply(this.message(next, plan));
    this.note(next, reply);
    return { plan, reply };
  }

  note(next: Rendered, { status, body }: Reply): void {
    if (status !== 200 || body.outcome === 'rejected') return;
    this.#applied = next;
    this.#sentChunks = new Set(this.#chunks.of(next.plan).map(({ digest }) => digest));
    if (body.outcome === 'reload') this.#loaded = new Set(Object.keys(next.plan.profiles));
  }
}

import type { Pod, RenderPlan } from '@haptic/core/contract';
import type { AgentState } from '@haptic/agent/protocol';

/** Plans of this process that a pod may still report; the newest is the usual case. */
const REMEMBERED_PLANS = 4;

/** What one pod's agent reports, and what this process remembers of the plans that it speaks of. */
export class PodKnowledge {
  readonly #plans = new Map<string, RenderPlan>();
  #state: AgentState | undefined;
  /** What stood in the file of the worker's last load, where this process has seen it. */
  #loaded: { readonly planId: string; readonly profiles: ReadonlySet<string> } | undefined;
  #version: string | undefined;
  #paths: AgentState['paths'] | undefined;
  /** The pod's files are not those that were applied. */
  #drifted = false;

  /** Undefined while the agent does not answer. */
  get state(): AgentState | undefined {
    return this.#state;
  }

  /** Of its HAProxy, as it answered last. */
  get version(): string | undefined {
    return this.#version;
  }

  /** Where its files are, as it answered last. */
  get paths(): AgentState['paths'] | undefined {
    return this.#paths;
  }

  get hasDrifted(): boolean {
    return this.#drifted;
  }

  /** Whether the pod has a plan that is not known here. */
  get isForeign(): boolean {
    const applied = this.#state?.applied ?? undefined;
    return applied !== undefined && !this.#plans.has(applied);
  }

  /** The plan that the worker is in step with. */
  get runs(): string | undefined {
    return this.#state?.inStep === true && !this.#drifted ? (this.#state.applied ?? undefined) : undefined;
  }

  learn(state: AgentState): void {
    this.#state = state;
    this.#version = state.haproxyVersion ?? this.#version;
    this.#paths = state.paths;
    if (state.drift !== undefined) this.#drifted = state.drift.length > 0;
    const { running } = state;
    const plan = running === null ? undefined : this.#plans.get(running);
    if (running === null || plan === undefined || this.#loaded?.planId === running) return;
    this.#loaded = { planId: running, profiles: new Set(Object.keys(plan.profiles)) };
  }

  /** The agent does not answer. */
  lose(): void {
    this.#state = undefined;
  }

  /** All files were written anew. */
  mended(): void {
    this.#drifted = false;
  }

  remember(plan: RenderPlan): void {
    this.#plans.delete(plan.id);
    this.#plans.set(plan.id, plan);
    for (const id of [...this.#plans.keys()].slice(0, -REMEMBERED_PLANS)) this.#plans.delete(id);
  }

  pod(name: string): Pod {
    const state = this.#state;
    const baseline = this.#baseline();
    return {
      name,
      ops: state?.ops ?? [],
      ...(state?.haproxyVersion != null && { haproxyVersion: state.haproxyVersion }),
      ...(baseline !== undefined && { baseline }),
      ...(state?.applied != null && { applied: state.applied }),
      ...(state?.running != null && { loaded: state.running }),
      ...(this.#loaded !== undefined &&
        this.#loaded.planId === state?.running && { loadedProfiles: this.#loaded.profiles }),
    };
  }

  /** Another one when there is something for the core to look at. */
  signature(): string {
    const state = this.#state;
    if (state === undefined) return 'unreachable';
    const known = this.#baseline() !== undefined;
    const { applied, worker, haproxyVersion, pendingReload } = state;
    return JSON.stringify([applied, worker, haproxyVersion, pendingReload !== null, known]);
  }

  /** What the pod runs: known only where its worker is in step with its files, or about to be. */
  #baseline(): RenderPlan | undefined {
    const state = this.#state;
    if (state === undefined || state.applied === null) return undefined;
    if (this.#drifted || (!state.inStep && state.pendingReload === null)) return undefined;
    return this.#plans.get(state.applied);
  }
}

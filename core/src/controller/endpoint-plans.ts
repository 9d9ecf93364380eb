import {
  IN_PLACE_OPS,
  type DeployPlan,
  type Meanwhile,
  type Pod,
  type Rendered,
  type RenderPlan,
} from '../contract/index.ts';
import { PlanMemo, withEndpoints } from '../plan/index.ts';
import { sha256 } from './sha256.ts';

/** Renders that no pod reports may be reported again: those that were wanted last are kept. */
const KEPT = 4;

/** How pods get endpoints while they must not load what else is new: endpoint changes never wait for a reload. */
export class EndpointPlans {
  readonly #plan: (next: RenderPlan, pod: Pod) => DeployPlan;
  readonly #memo = new PlanMemo(sha256);
  /** What was sent to pods, by plan id. */
  readonly #known = new Map<string, Rendered>();

  constructor(plan: (next: RenderPlan, pod: Pod) => DeployPlan) {
    this.#plan = plan;
  }

  /** Pods may report it from now on. */
  remember(rendered: Rendered): void {
    const { id } = rendered.plan;
    this.#known.delete(id);
    this.#known.set(id, rendered);
  }

  /** Forgets what no pod has any more. */
  keepOnly(pods: readonly Pod[]): void {
    const reported = new Set(pods.map(({ baseline }) => baseline?.id));
    const recent = new Set([...this.#known.keys()].slice(-KEPT));
    for (const id of this.#known.keys()) if (!reported.has(id) && !recent.has(id)) this.#known.delete(id);
  }

  /** Adds to a plan how the pod gets its endpoints alone. */
  complete(plan: DeployPlan, pod: Pod, next: Rendered): DeployPlan {
    if (plan.inPlaceOps.length === 0) return plan;
    return Object.freeze({ ...plan, meanwhile: () => this.#meanwhile(pod, next) });
  }

  #meanwhile(pod: Pod, next: Rendered): Meanwhile | undefined {
    const before = this.#known.get(pod.baseline?.id ?? '');
    const rendered = before && withEndpoints(before, next, this.#memo);
    if (rendered === undefined) return undefined;
    const plan = this.#plan(rendered.plan, pod);
    if (plan.mode !== 'runtime' || !plan.ops.every(({ op }) => IN_PLACE_OPS.has(op))) return undefined;
    this.remember(rendered);
    return { rendered, plan };
  }
}

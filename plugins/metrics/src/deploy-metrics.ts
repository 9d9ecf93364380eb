import type {
  Fleet,
  Hooks,
  Meter,
  Outcome,
  OutcomeResult,
  RenderPlan,
  PluginHooks,
} from '@haptic/core/contract';
import { APPLIES, APPLIES_REJECTED, DEPLOY_DURATION, PROPAGATION, RELOADS, SKEW } from './definitions.ts';

const TAKEN: readonly OutcomeResult[] = ['noop', 'runtime', 'file_only', 'reload'];
/** As the transport to the agents reports what one of them did not know. */
const SKEW_REASON = 'skew:';

/** What becomes of plans in the pods. */
export class DeployMetrics {
  readonly #meter: Meter;
  readonly #fleet: () => Pick<Fleet, 'pods'> | undefined;
  /** Pods that have series. */
  readonly #measured = new Set<string>();
  /** Release that every pod has run: one that comes later, or restarts, tells nothing of how fast changes get through. */
  #propagated: string | undefined;

  constructor(meter: Meter, fleet: () => Pick<Fleet, 'pods'> | undefined) {
    this.#meter = meter;
    this.#fleet = fleet;
    for (const metric of [RELOADS, SKEW]) meter.count(metric, {}, 0);
  }

  observe({ applied }: Pick<PluginHooks<Hooks>, 'applied'>, name: string): void {
    applied.tap(name, (plan, outcomes, { sinceChangeMs }) => {
      for (const outcome of outcomes) this.#count(outcome);
      this.#propagation(plan, outcomes, sinceChangeMs);
    });
  }

  /** Series of pods that went go with them. */
  forgetGone(): void {
    const here = new Set(
      this.#fleet()
        ?.pods()
        .map(({ name }) => name),
    );
    for (const pod of this.#measured) {
      if (here.has(pod)) continue;
      for (const metric of [APPLIES, APPLIES_REJECTED]) this.#meter.remove(metric, { pod });
      this.#measured.delete(pod);
    }
  }

  #count({ pod, result, reasons, durationMs }: Outcome): void {
    this.#measured.add(pod);
    const skew = reasons.filter((reason) => reason.startsWith(SKEW_REASON)).length;
    this.#meter.count(SKEW, {}, skew);
    this.#meter.count(APPLIES_REJECTED, { pod }, Number(result === 'rejected'));
    if (result === 'reload') this.#meter.count(RELOADS);
    if (!TAKEN.includes(result) && result !== 'scheduled') return;
    this.#meter.count(APPLIES, { pod, mode: result });
    this.#meter.observe(DEPLOY_DURATION, durationMs / 1_000, { mode: result });
  }

  #propagation({ id, releaseId }: RenderPlan, outcomes: readonly Outcome[], sinceChangeMs: number): void {
    const took = new Set(outcomes.flatMap(({ pod, result }) => (TAKEN.includes(result) ? pod : [])));
    const pods = this.#fleet()?.pods() ?? [];
    const everywhere = pods.every(({ name, baseline }) => took.has(name) || baseline?.id === id);
    if (took.size === 0 || !everywhere || this.#propagated === releaseId) return;
    this.#propagated = releaseId;
    this.#meter.observe(PROPAGATION, sinceChangeMs / 1_000);
  }
}

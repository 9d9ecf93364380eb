import type { Caller, Hooks, Meter, RenderPlan, PluginHooks } from '@haptic/core/contract';
import {
  RECONCILIATIONS,
  RECONCILIATION_DURATION,
  RECONCILIATION_ERRORS,
  RENDERS,
  RENDER_DURATION,
  RENDER_ERRORS,
} from './definitions.ts';

const CALLERS: readonly Caller[] = ['reconcile', 'admission', 'load-gate', 'promotion'];

/** Renders on their way to pods, as against those that somebody only asks about. */
function isForPods(caller: Caller): boolean {
  return caller === 'reconcile' || caller === 'promotion';
}

export function measureRenders(
  { rendered, judged, refused }: Pick<PluginHooks<Hooks>, 'rendered' | 'judged' | 'refused'>,
  name: string,
  meter: Meter,
): void {
  for (const metric of [RECONCILIATIONS, RECONCILIATION_ERRORS, RENDER_ERRORS]) meter.count(metric, {}, 0);
  for (const caller of CALLERS) meter.count(RENDERS, { caller }, 0);
  const renderMs = new WeakMap<RenderPlan, number>();
  rendered.tap(name, (plan, { durationMs, caller }) => {
    meter.count(RENDERS, { caller });
    meter.observe(RENDER_DURATION, durationMs / 1_000);
    if (!isForPods(caller)) return;
    meter.count(RECONCILIATIONS);
    renderMs.set(plan, durationMs);
  });
  judged.tap(name, (plan, _verdict, { durationMs, caller }) => {
    if (!isForPods(caller)) return;
    meter.observe(RECONCILIATION_DURATION, ((renderMs.get(plan) ?? 0) + durationMs) / 1_000);
  });
  refused.tap(name, ({ stage }) => {
    meter.count(RECONCILIATION_ERRORS);
    if (stage !== 'render') return;
    meter.count(RECONCILIATIONS);
    meter.count(RENDER_ERRORS);
  });
}

import type { Meter } from '@haptic/core/contract';
import type { ApplyMode } from '../hooks.ts';
import { stageSchema, type ApplyAnswer } from '../protocol/index.ts';
import {
  APPLIES,
  APPLY_DURATION,
  FALL_BACKS,
  GENERATION,
  KNOWN_BAD_HITS,
  REJECTIONS,
  RELOADS,
  ROLLBACKS,
  SKEW,
} from './definitions.ts';

/** What the answers of applies add up to. */
export function measureApply(meter: Meter, answer: ApplyAnswer, mode: ApplyMode): void {
  const { outcome, stage } = answer;
  meter.count(APPLIES, { mode, outcome });
  meter.observe(APPLY_DURATION, answer.durationMs / 1_000, { outcome });
  if (stage !== undefined) meter.count(REJECTIONS, { stage });
  if (answer.fellBack) meter.count(FALL_BACKS);
  if (answer.rolledBack) meter.count(ROLLBACKS);
  for (const name of answer.skew) meter.count(SKEW, { kind: kindOf(name) });
  meter.gauge(GENERATION, answer.generation);
}

/** Of `mode x`, `op x` or `file kind x`; `x` comes from the controller and may be anything. */
function kindOf(skew: string): string {
  return /^(?:mode|op|file kind)(?= )/.exec(skew)?.[0].replace(' ', '_') ?? 'other';
}

/** Rates need a zero to begin with. */
export function beginWithZero(meter: Meter): void {
  for (const metric of [FALL_BACKS, ROLLBACKS, KNOWN_BAD_HITS]) meter.count(metric, {}, 0);
  for (const result of ['loaded', 'refused', 'unknown']) meter.count(RELOADS, { result }, 0);
  for (const stage of stageSchema.options) meter.count(REJECTIONS, { stage }, 0);
}

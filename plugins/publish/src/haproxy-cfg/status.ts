import { redactText, type Outcome, type Pod } from '@haptic/core/contract';
import type { HAProxyCfgStatus } from './schema.ts';

const MOST_PODS = 200;
const MOST_REASONS = 10;
/** Characters. */
const LONGEST_REASON = 200;
const LONGEST_ERROR = 500;
const TYPE = 'Applied';

type PodLine = NonNullable<HAProxyCfgStatus['pods']>[number];
type Condition = NonNullable<HAProxyCfgStatus['conditions']>[number];

/** How far the pods are with a plan. */
export function statusOf(
  planId: string,
  pods: readonly Pod[],
  outcomes: ReadonlyMap<string, Outcome>,
  lastConditions: unknown,
  wall: number,
): HAProxyCfgStatus {
  const sorted = pods.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const condition = conditionOf(planId, sorted, lastConditions, wall);
  return {
    pods: sorted.slice(0, MOST_PODS).map((pod) => podLine(pod, outcomes.get(pod.name))),
    conditions: [condition],
  };
}

/** What a pod reports is another's text: bounded like everything else. */
function podLine({ name, uid, applied, baseline }: Pod, outcome: Outcome | undefined): PodLine {
  const reasons =
    outcome?.reasons.slice(0, MOST_REASONS).map((reason) => shorten(reason, LONGEST_REASON)) ?? [];
  return {
    name,
    ...(uid !== undefined && { uid }),
    ...(applied !== undefined && { applied }),
    ...(baseline !== undefined && { running: baseline.id }),
    ...(outcome !== undefined && { mode: outcome.result }),
    ...(reasons.length > 0 && { reasons }),
    ...(outcome?.message !== undefined && { error: shorten(redactText(outcome.message), LONGEST_ERROR) }),
  };
}

function conditionOf(planId: string, pods: readonly Pod[], before: unknown, wall: number): Condition {
  const late = pods.filter(({ applied }) => applied !== planId).map(({ name }) => name);
  const status = pods.length > 0 && late.length === 0 ? 'True' : 'False';
  const reason = pods.length === 0 ? 'NoPods' : late.length === 0 ? 'AllPods' : 'PodsBehind';
  const some = late.slice(0, MOST_REASONS).join(', ');
  const message =
    pods.length === 0
      ? 'there are no HAProxy pods'
      : `${pods.length - late.length} of ${pods.length} pods have the plan${late.length === 0 ? '' : `, not ${some}`}`;
  return { type: TYPE, status, lastTransitionTime: timeOf(status, before, wall), reason, message };
}

function timeOf(status: string, before: unknown, wall: number): string {
  const last = Array.isArray(before)
    ? (before as readonly Partial<Condition>[]).find(({ type }) => type === TYPE)
    : undefined;
  if (last?.status === status && typeof last.lastTransitionTime === 'string') return last.lastTransitionTime;
  return new Date(wall).toISOString().replace(/\.\d+Z$/, 'Z');
}

function shorten(text: string, longest: number): string {
  return text.length > longest ? `${text.slice(0, longest)} …` : text;
}

import type { Meter } from '@haptic/core/contract';
import type { PodSession } from './pod-session.ts';
import type { Roster } from './roster.ts';

const PODS = {
  name: 'haptic_deploy_pods',
  help: 'HAProxy pods: whether their agents answer, or they are being taken down.',
  labels: ['state'],
} as const;

export function measurePods(meter: Meter, sessions: readonly PodSession[]): void {
  const counts = { answers: 0, silent: 0, stops: 0 };
  for (const { stops, state } of sessions) {
    if (stops) counts.stops += 1;
    else if (state === undefined) counts.silent += 1;
    else counts.answers += 1;
  }
  for (const [state, count] of Object.entries(counts)) meter.gauge(PODS, count, { state });
}

/** For the body of probes. One that stops need not answer. */
export function whatIsWrong({ isKnown, sessions }: Roster): string | undefined {
  if (!isKnown) return 'it is not known yet which pods there are';
  const silent = sessions.filter(({ state, stops }) => state === undefined && !stops).map(({ name }) => name);
  return silent.length === 0 ? undefined : `no answer from ${silent.join(', ')}`;
}

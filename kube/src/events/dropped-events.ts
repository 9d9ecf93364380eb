import type { Meter, MetricDefinition } from '@haptic/core/contract';

const DROPPED: MetricDefinition = {
  name: 'haptic_events_dropped_total',
  help: 'Events that are never written: the API server refuses them, or too many wait.',
  labels: ['cause'],
};

export function countDropped(meter: Meter, cause: 'refused' | 'limit'): void {
  meter.count(DROPPED, { cause });
}

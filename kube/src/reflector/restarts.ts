import type { Meter, MetricDefinition } from '@haptic/core/contract';
import type { ReflectorEvent } from './reflector.ts';

const RESTARTS: MetricDefinition = {
  name: 'haptic_watch_restarts_total',
  help: 'Watches of the Kubernetes API that ended and were begun again.',
  labels: ['watch', 'cause'],
};

/** For `observe`: every watch of ours counts in one metric, by the plural name of what it watches. */
export function countRestarts(meter: Meter, watch: string): (event: ReflectorEvent) => void {
  return (event) => {
    if (event.type !== 'restarted') return;
    meter.count(RESTARTS, { watch, cause: event.error === undefined ? 'time' : 'error' });
  };
}

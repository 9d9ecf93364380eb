import type { ControllerStatus, Fleet, Meter, Pod, Term } from '@haptic/core/contract';
import { FLEET_CONVERGED, FLEET_SIZE, GATE_LATCHED, IS_LEADER, PROFILES, RESOURCES } from './definitions.ts';

/** What holds at this moment, as opposed to what happened. */
export interface State {
  readonly status: ControllerStatus;
  readonly fleet: Pick<Fleet, 'pods'> | undefined;
  readonly term: Term | undefined;
}

/** Read when somebody asks: nothing has to be told of every change. */
export function measureState(meter: Meter, { status, fleet, term }: State): void {
  // Without terms there is nobody else to lead.
  const leads = term?.leader ?? true;
  const pods = fleet?.pods() ?? [];
  meter.gauge(GATE_LATCHED, Number(status.gate?.state === 'latched'));
  meter.gauge(FLEET_SIZE, pods.length);
  meter.gauge(IS_LEADER, Number(leads));
  for (const metric of [PROFILES, RESOURCES, FLEET_CONVERGED]) meter.remove(metric, {});
  if (leads) measureReleases(meter, status, pods);
}

/** Who does not lead accepts and sends out nothing: what it knows of that is out of date, and would pass for trouble. */
function measureReleases(
  meter: Meter,
  { plan, input, dispatched }: ControllerStatus,
  pods: readonly Pod[],
): void {
  meter.gauge(PROFILES, Object.keys(plan?.profiles ?? {}).length);
  for (const watch of input?.view.watches ?? []) {
    meter.gauge(RESOURCES, input!.view.watch(watch).list().length, { watch });
  }
  const runIt = pods.filter(({ baseline }) => baseline !== undefined && baseline.id === dispatched);
  meter.gauge(FLEET_CONVERGED, Number(dispatched !== undefined && runIt.length === pods.length));
}

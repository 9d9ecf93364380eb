import type { ControllerStatus, Fleet, Meter, Term } from '@haptic/core/contract';
import { FLEET_CONVERGED, FLEET_SIZE, GATE_LATCHED, IS_LEADER, PROFILES, RESOURCES } from './definitions.ts';

/** What holds at this moment, as opposed to what happened. */
export interface State {
  readonly status: ControllerStatus;
  readonly fleet: Pick<Fleet, 'pods'> | undefined;
  readonly term: Term | undefined;
}

/** Read when somebody asks: nothing has to be told of every change. */
export function measureState(meter: Meter, { status, fleet, term }: State): void {
  const { gate, plan, input, dispatched } = status;
  meter.gauge(GATE_LATCHED, Number(gate?.state === 'latched'));
  meter.gauge(PROFILES, Object.keys(plan?.profiles ?? {}).length);
  meter.remove(RESOURCES, {});
  for (const watch of input?.view.watches ?? []) {
    meter.gauge(RESOURCES, input!.view.watch(watch).list().length, { watch });
  }
  const pods = fleet?.pods() ?? [];
  const runIt = pods.filter(({ baseline }) => baseline !== undefined && baseline.id === dispatched);
  meter.gauge(FLEET_SIZE, pods.length);
  meter.gauge(FLEET_CONVERGED, Number(dispatched !== undefined && runIt.length === pods.length));
  // Without terms there is nobody else to lead.
  meter.gauge(IS_LEADER, Number(term?.leader ?? true));
}

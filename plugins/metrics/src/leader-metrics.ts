import type { Hooks, Meter, PluginHooks } from '@haptic/core/contract';
import { LEADER_TRANSITIONS } from './definitions.ts';

export function measureLeadership(
  { leadership }: Pick<PluginHooks<Hooks>, 'leadership'>,
  name: string,
  meter: Meter,
): void {
  meter.count(LEADER_TRANSITIONS, {}, 0);
  let leads = false;
  leadership.tap(name, ({ leader }) => {
    // A term that goes on with a higher epoch is told of, too.
    if (leader !== leads) meter.count(LEADER_TRANSITIONS);
    leads = leader;
  });
}

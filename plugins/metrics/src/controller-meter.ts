import type { Labels, MetricDefinition } from '@haptic/core/contract';
import { PrometheusMeter } from '@haptic/prometheus';
import { VALIDATION_DURATION } from './definitions.ts';

/** The host times every tap of a plugin under the name of its hook; those of judges are `validate:<kind>`. */
const HOOK_DURATION = 'haptic_plugin_hook_duration_seconds';
const JUDGING = 'validate:';

/** Says of judges how long they took by a name of their own as well. */
export class ControllerMeter extends PrometheusMeter {
  override observe(definition: MetricDefinition, value: number, labels: Labels = {}): void {
    super.observe(definition, value, labels);
    const { plugin: judge, hook } = labels;
    if (definition.name !== HOOK_DURATION || judge === undefined || hook?.startsWith(JUDGING) !== true)
      return;
    super.observe(VALIDATION_DURATION, value, { judge });
  }
}

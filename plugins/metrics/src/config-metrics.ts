import type { Hooks, Meter, RejectionReason, PluginHooks } from '@haptic/core/contract';
import { CONFIG_HELD, CONFIG_REJECTED, CONFIG_VALIDATED } from './definitions.ts';

const HELD: readonly RejectionReason[] = ['LibraryMissing', 'RevisionMismatch'];
const REJECTED: readonly RejectionReason[] = [
  'ConfigInvalid',
  'HAProxyValidationFailed',
  'LoadGateFailed',
  ...HELD,
];
const PASSED = 'ValidationSucceeded';

export function measureConfig(
  { configAccepted, configRejected }: Pick<PluginHooks<Hooks>, 'configAccepted' | 'configRejected'>,
  name: string,
  meter: Meter,
): void {
  const validated = (current?: RejectionReason | typeof PASSED): void => {
    for (const reason of [PASSED, ...REJECTED])
      meter.gauge(CONFIG_VALIDATED, Number(reason === current), { reason });
    meter.gauge(CONFIG_HELD, Number(HELD.some((reason) => reason === current)));
  };
  validated();
  for (const reason of REJECTED) meter.count(CONFIG_REJECTED, { reason }, 0);
  configAccepted.tap(name, () => validated(PASSED));
  configRejected.tap(name, (_error, { reason }) => {
    validated(reason);
    meter.count(CONFIG_REJECTED, { reason });
  });
}

import { positiveDuration, z } from '@haptic/core/contract';
import { defaultLeaseTiming } from '@haptic/kube';

/** `leaderElection` of the config kind, read when the process starts. */
export const electionSettings = z
  .strictObject({
    /** False: this process leads for ever, which only one may. */
    enabled: z.boolean().default(true),
    leaseName: z
      .string()
      .regex(/^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/, 'expected the name of a Lease, such as "haptic"')
      .default('haptic-leader'),
    leaseDuration: positiveDuration.prefault('15s'),
    renewDeadline: positiveDuration.prefault('10s'),
    retryPeriod: positiveDuration.prefault('2s'),
  })
  .superRefine(({ leaseDuration, renewDeadline, retryPeriod }, context) => {
    if (renewDeadline > 2 * retryPeriod && leaseDuration > renewDeadline + retryPeriod) return;
    context.addIssue({
      code: 'custom',
      message:
        'a term could outlast the patience of the others: expected leaseDuration > renewDeadline + retryPeriod and renewDeadline > 2 * retryPeriod',
    });
  })
  .prefault({});
export type ElectionSettings = z.output<typeof electionSettings>;

export const DEFAULT_SETTINGS: ElectionSettings = {
  enabled: true,
  leaseName: 'haptic-leader',
  ...defaultLeaseTiming,
};

import { positiveDuration, z } from '@haptic/core/contract';
import { defaultLeaseTiming } from '@haptic/kube';

/**
 * What of an election is known before any configuration: replicas that stood for different Leases, because one of them found a
 * broken configuration, would both lead.
 */
export const electionOptions = z.strictObject({
  /** Of this process in the Lease; the host's name and something of its own when absent. */
  identity: z.string().min(1).exactOptional(),
  /** False: this process leads for ever, which only one may. */
  enabled: z.boolean().default(true),
  /** In the installation's namespace; `<config>-leader` after the configuration when absent. */
  leaseName: z
    .string()
    .regex(
      /^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/,
      'expected the name of a Lease, such as "haptic-leader"',
    )
    .exactOptional(),
});

/** `leaderElection` of the config kind: the timing. Replicas may have different ones for a while: others wait as the Lease itself says. */
export const electionSettings = z
  .strictObject({
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

export const DEFAULT_SETTINGS: ElectionSettings = { ...defaultLeaseTiming };

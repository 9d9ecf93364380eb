import { z } from '@haptic/core/contract';

export const KEY = 'podSelector';

/** A qualified name, as keys of labels are. */
const labelKey = z
  .string()
  .regex(
    /^(?:[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?\/)?[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$/,
    'expected the key of a label, such as "app.kubernetes.io/name"',
  );
const labelValue = z
  .string()
  .regex(/^(?:[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?$/, 'expected the value of a label');

/** `podSelector` of the config kind. Without a label it would take every pod of the namespace for a HAProxy. */
const podSelector = z.strictObject({
  matchLabels: z
    .record(labelKey, labelValue)
    .refine((labels) => Object.keys(labels).length > 0, 'expected at least one label')
    .meta({ minProperties: 1 }),
});
export type PodSelector = z.output<typeof podSelector>;

/** Left out where no pods are looked for. */
export const podSelectorSchema = podSelector.optional();

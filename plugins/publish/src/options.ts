import { isIP } from 'node:net';
import { z } from '@haptic/core/contract';

const address = z.union([
  z.strictObject({ ip: z.string().refine((text) => isIP(text) !== 0, 'expected an IP address') }),
  z.strictObject({ hostname: z.string().min(1) }),
]);

const service = z
  .string()
  .regex(/^[^/\s]+\/[^/\s]+$/, 'expected a Service as "namespace/name"')
  .transform((text) => {
    const [namespace = '', name = ''] = text.split('/');
    return { namespace, name };
  });

export const options = z
  .strictObject({
    /** Where the HAProxy pods are reached, for the statuses of Ingresses. Without this and `service` they are left alone. */
    addresses: z.array(address).min(1).exactOptional(),
    /** The Service in front of the HAProxy pods, `namespace/name`, whose addresses are taken. */
    service: service.exactOptional(),
  })
  .refine(({ addresses, service: of }) => addresses === undefined || of === undefined, {
    message: 'either addresses or service, not both',
  });
export type PublishOptions = z.output<typeof options>;

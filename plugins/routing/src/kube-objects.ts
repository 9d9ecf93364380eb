import { z } from 'zod';
import type { KubeObject, ObjectRef } from '@haptic/core/contract';

const portNumber = z.number().int().min(1).max(65_535);

/** The parts of a Service that routing reads. */
const serviceSchema = z.object({
  spec: z.object({
    type: z.string().optional(),
    ipFamilies: z.array(z.enum(['IPv4', 'IPv6'])).optional(),
    ports: z
      .array(z.object({ name: z.string().optional(), port: portNumber, protocol: z.string().optional() }))
      .default([]),
  }),
});
export type Service = z.output<typeof serviceSchema>;

const endpointSchema = z.object({
  addresses: z.array(z.string()).default([]),
  conditions: z
    .object({
      ready: z.boolean().nullish(),
      serving: z.boolean().nullish(),
      terminating: z.boolean().nullish(),
    })
    .default({}),
  targetRef: z.object({ kind: z.string().optional(), name: z.string().optional() }).nullish(),
});
export type Endpoint = z.output<typeof endpointSchema>;

/** The parts of an EndpointSlice that routing reads. */
const endpointSliceSchema = z.object({
  addressType: z.string().default('IPv4'),
  endpoints: z.array(endpointSchema).nullish(),
  ports: z
    .array(
      z.object({
        name: z.string().nullish(),
        port: portNumber.nullish(),
        protocol: z.string().nullish(),
      }),
    )
    .nullish(),
});
export type EndpointSlice = z.output<typeof endpointSliceSchema>;

/** Reads a frozen object once; undefined where it is not what its kind should be. */
function reader<T>(schema: z.ZodType<T>): (object: KubeObject) => T | undefined {
  const read = new WeakMap<KubeObject, { readonly value: T | undefined }>();
  return (object) => {
    let result = read.get(object);
    if (result === undefined) {
      result = { value: schema.safeParse(object).data };
      read.set(object, result);
    }
    return result.value;
  };
}

export const readService = reader(serviceSchema);
export const readEndpointSlice = reader(endpointSliceSchema);

const references = new WeakMap<KubeObject, ObjectRef>();

/** The identical reference for the identical object. */
export function objectRef(object: KubeObject): ObjectRef {
  let reference = references.get(object);
  if (reference === undefined) {
    const { namespace = '', name, uid } = object.metadata;
    const named = { apiVersion: object.apiVersion, kind: object.kind, namespace, name };
    reference = Object.freeze(uid === undefined ? named : { ...named, uid });
    references.set(object, reference);
  }
  return reference;
}

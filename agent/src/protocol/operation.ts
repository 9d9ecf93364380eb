import { z } from 'zod';
import type { Operation, RuntimeServer } from '@haptic/core/contract';

const runtimeServer = z.object({
  name: z.string(),
  address: z.string(),
  port: z.int(),
  weight: z.int(),
  state: z.enum(['ready', 'maint']),
  checked: z.boolean(),
  keywords: z.array(z.string()),
  guid: z.string(),
}) satisfies z.ZodType<RuntimeServer>;

const crtListLine = z.object({ certificate: z.string(), options: z.string(), sni: z.array(z.string()) });
const entry = { map: z.string(), key: z.string(), value: z.string() };
const server = { backend: z.string(), name: z.string() };
const file = { path: z.string() };
const ifLoaded = { ifLoaded: z.literal(true).exactOptional() };
const line = { list: z.string(), line: crtListLine };

/**
 * An operation that an agent of this version knows; what each does stands at the contract's `Operation`. Unknown fields are ignored, as
 * everywhere in the protocol.
 */
export const operationSchema = z.discriminatedUnion('op', [
  z.object({ op: z.literal('map.add'), ...entry }),
  z.object({ op: z.literal('map.set'), ...entry }),
  z.object({ op: z.literal('map.del'), map: z.string(), key: z.string(), deferred: z.boolean() }),
  z.object({ op: z.literal('map.replace'), map: z.string() }),
  z.object({ op: z.literal('server.add'), backend: z.string(), server: runtimeServer }),
  z.object({
    op: z.literal('server.del'),
    ...server,
    keywords: z.array(z.string()).exactOptional(),
    guid: z.string().exactOptional(),
  }),
  z.object({
    op: z.literal('server.set'),
    ...server,
    endpoint: z.object({ address: z.string(), port: z.int() }).exactOptional(),
    weight: z.int().exactOptional(),
    state: z.enum(['ready', 'maint']).exactOptional(),
  }),
  z.object({
    op: z.literal('backend.add'),
    name: z.string(),
    profile: z.string(),
    mode: z.enum(['http', 'tcp']),
    guid: z.string(),
    servers: z.array(runtimeServer),
  }),
  z.object({ op: z.literal('backend.del'), name: z.string(), servers: z.array(z.string()) }),
  z.object({ op: z.literal('cert.add'), ...file }),
  z.object({ op: z.literal('cert.set'), ...file, ...ifLoaded }),
  z.object({ op: z.literal('cert.del'), ...file }),
  z.object({ op: z.literal('ca.add'), ...file }),
  z.object({ op: z.literal('ca.set'), ...file, ...ifLoaded }),
  z.object({ op: z.literal('ca.del'), ...file }),
  z.object({ op: z.literal('crtlist.add'), ...line }),
  z.object({ op: z.literal('crtlist.del'), ...line }),
]) satisfies z.ZodType<Operation>;

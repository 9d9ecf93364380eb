import { gunzipSync } from 'node:zlib';
import { z } from 'zod';
import type { RenderPlan } from '@haptic/core/contract';
import { digestSchema, LIMITS, type StoredPlan } from '@haptic/agent/protocol';
import { joinParts } from './plan-parts.ts';

const objectRef = z.object({
  apiVersion: z.string(),
  kind: z.string(),
  namespace: z.string(),
  name: z.string(),
  uid: z.string().exactOptional(),
});

const section = z.object({
  kind: z.enum(['core', 'profile', 'backend', 'stamp']),
  name: z.string(),
  digest: digestSchema,
  length: z.int().min(0),
  provenance: z.object({
    snippet: z.string(),
    source: z.string(),
    line: z.int(),
    objects: z.array(objectRef),
  }),
  secret: z.boolean().exactOptional(),
});

const server = z.object({
  name: z.string(),
  address: z.string(),
  port: z.int(),
  weight: z.int().exactOptional(),
  state: z.enum(['ready', 'drain', 'maint']),
  keywords: z.array(z.string()),
  guid: z.string(),
});

const backend = z.object({
  profile: z.string(),
  mode: z.enum(['http', 'tcp']),
  guid: z.string(),
  shape: z.enum(['dynamic', 'static']),
  shapeReason: z.string().exactOptional(),
  directives: digestSchema.exactOptional(),
  serversReason: z.string().exactOptional(),
  spareFor: z.string().exactOptional(),
  servers: z.array(server),
  digest: digestSchema,
});

const mapFile = z.object({
  match: z.enum(['str', 'beg', 'end', 'sub', 'dom', 'dir', 'reg', 'ip']),
  layer: z.enum(['leaf', 'list', 'path', 'host']),
  secret: z.boolean(),
  entries: z.array(z.tuple([z.string(), z.string()])),
  digest: digestSchema,
});

const crtList = z.object({
  lines: z.array(z.object({ certificate: z.string(), options: z.string(), sni: z.array(z.string()) })),
  digest: digestSchema,
});

const fileEntry = z.object({
  path: z.string(),
  kind: z.enum(['config', 'map', 'crt-list', 'certificate', 'ca', 'file']),
  digest: digestSchema,
  size: z.int().min(0),
  reloadOnChange: z.boolean(),
  secret: z.boolean().exactOptional(),
});

const byName = <S extends z.ZodType>(schema: S) => z.record(z.string(), schema);
const digests = byName(z.object({ digest: digestSchema }));
const objects = z.array(byName(z.json()));

const renderPlanSchema = z.object({
  schema: z.literal(1),
  id: digestSchema,
  releaseId: digestSchema,
  textId: z.string(),
  sections: z.array(section),
  profiles: byName(z.object({ digest: digestSchema, base: z.string() })),
  backends: byName(backend),
  maps: byName(mapFile),
  crtLists: byName(crtList),
  certificates: digests,
  caFiles: digests,
  binds: z.array(z.object({ address: z.string() })),
  files: z.array(fileEntry),
  k8sResources: objects,
  statuses: objects,
  events: z.array(z.object({ object: objectRef, reason: z.string(), message: z.string() })),
}) satisfies z.ZodType<RenderPlan>;

/**
 * The plan that an agent keeps, if it is one of ours and the one that it says: agents store what they are given, and another
 * version of ours may have given it. Undefined: nothing is known about what the pod has.
 */
export function readStoredPlan(stored: StoredPlan, id: string): RenderPlan | undefined {
  try {
    const plan = renderPlanSchema.parse(joinParts(chunksOf(stored)));
    return plan.id === id ? plan : undefined;
  } catch {
    return undefined;
  }
}

function chunksOf({ chunks, data }: StoredPlan): unknown[] {
  let left: number = LIMITS.plan;
  return chunks.map((digest): unknown => {
    const bytes = gunzipSync(Buffer.from(data[digest] ?? '', 'base64'), { maxOutputLength: left });
    left -= bytes.byteLength;
    return JSON.parse(bytes.toString());
  });
}

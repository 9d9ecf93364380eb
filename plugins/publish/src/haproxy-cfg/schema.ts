import { z } from 'zod';

const digest = z.string().min(1).max(64);

const condition = z.strictObject({
  type: z.string().min(1).max(316),
  status: z.enum(['True', 'False', 'Unknown']),
  lastTransitionTime: z.string().meta({ format: 'date-time' }),
  reason: z.string().min(1).max(1024),
  message: z.string().max(32_768),
});

/** Of one list. */
export const MOST_LINES = 4_096;

/** What was published of the last release: digests, and texts where the config says so. Nothing of what is secret. */
export const haproxyCfgSpec = z.strictObject({
  planId: digest,
  releaseId: digest,
  /** Of the main configuration, in their order. Of a secret one its kind alone. */
  sections: z
    .array(
      z.strictObject({
        kind: z.string(),
        name: z.string().exactOptional(),
        digest: digest.exactOptional(),
        secret: z.literal(true).exactOptional(),
      }),
    )
    .max(MOST_LINES),
  files: z
    .array(
      z.strictObject({
        path: z.string(),
        kind: z.string(),
        size: z.int().min(0).exactOptional(),
        digest: digest.exactOptional(),
        secret: z.literal(true).exactOptional(),
      }),
    )
    .max(MOST_LINES),
  /** How many did not fit. */
  omitted: z.strictObject({ sections: z.int().min(0), files: z.int().min(0), content: z.int().min(0) }),
  content: z
    .array(z.strictObject({ path: z.string(), text: z.string() }))
    .max(MOST_LINES)
    .exactOptional(),
});
export type HAProxyCfgSpec = z.output<typeof haproxyCfgSpec>;

/** How far the pods are. */
export const haproxyCfgStatus = z.strictObject({
  pods: z
    .array(
      z.strictObject({
        name: z.string(),
        uid: z.string().exactOptional(),
        /** The plan whose files it has. */
        applied: z.string().exactOptional(),
        /** The plan that it reports to run. */
        running: z.string().exactOptional(),
        mode: z.string().exactOptional(),
        reasons: z.array(z.string()).exactOptional(),
        error: z.string().exactOptional(),
      }),
    )
    .exactOptional(),
  conditions: z.array(condition).exactOptional(),
});
export type HAProxyCfgStatus = z.output<typeof haproxyCfgStatus>;

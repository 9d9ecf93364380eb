import { z } from 'zod';
import { LIMITS } from './limits.ts';

/** Lower-case hex SHA-256. */
export const digestSchema = z.string().regex(/^[0-9a-f]{64}$/, 'expected a SHA-256 digest in lower-case hex');

const base64 = z.base64('expected base64');

const planIdSchema = z.string().min(1).max(128);

/**
 * Orders the writes of all controllers: a lower epoch is stale, `seq` strictly rises within an epoch, and an equal
 * (epoch, seq, planId) is a repeat that gets the stored answer.
 */
export const tokenSchema = z.object({ epoch: z.int().min(0), seq: z.int().min(0) });
/** Of a request, or the newest one that an agent has seen. */
export type Token = z.output<typeof tokenSchema>;

/** Of a request. What was stored or is told is read whatever it is, so that nobody forgets a token. */
const requestTokenSchema = tokenSchema.extend({
  epoch: tokenSchema.shape.epoch.max(LIMITS.epoch, `expected an epoch of at most ${LIMITS.epoch}`),
});

/** Parts that make a file, in order: `[offset, length]` of the bytes of `from`, or new ones in base64. */
const patchSchema = z.object({
  from: digestSchema,
  parts: z.array(
    z.union([z.tuple([z.int().min(0), z.int().min(0)]), base64], 'expected [offset, length] or base64'),
  ),
});
/** How bytes are made of others. */
export type FilePatch = z.output<typeof patchSchema>;

/** A plan in parts, opaque to the agent and given back with the state. */
export const storedPlanSchema = z.object({
  /** Digests of the parts in their order. */
  chunks: z.array(digestSchema).max(LIMITS.files),
  /** Base64, by digest. */
  data: z.record(z.string(), base64),
});
/** A plan as an agent keeps it. */
export type StoredPlan = z.output<typeof storedPlanSchema>;

/** The same in an apply: `[index, count]` stands for parts of the plan that `expect` names, and is only there with `delta`. */
const sentPlanSchema = z.object({
  chunks: z
    .array(
      z.union(
        [digestSchema, z.tuple([z.int().min(0), z.int().min(1)])],
        'expected a digest or [index, count]',
      ),
    )
    .max(LIMITS.files),
  /** Only those that the agent lacks. */
  data: storedPlanSchema.shape.data,
});

/** One file of the desired set. */
const applyFileSchema = z.object({
  /** Relative to the tree, canonical: no empty, `.` or `..` parts. */
  path: z.string().min(1),
  digest: digestSchema,
  size: z.int().min(0),
  /** A `FileKind` of the contract; an unknown one turns the apply into a reload. */
  kind: z.string(),
  reloadOnChange: z.boolean(),
  /** Its bytes as UTF-8; left out where they are none, or where the agent already has them. Since protocol 2. */
  text: z.string().optional(),
  /** The same in base64, whatever they are. */
  content: base64.optional(),
  /** How to make the bytes of others that the agent may have; it asks for them where this does not do. */
  patch: patchSchema.optional(),
});
/** One file of an apply. */
export type ApplyFile = z.output<typeof applyFileSchema>;

/** A typed change of the running worker. The agent alone spells it in HAProxy's words. */
const opSchema = z.looseObject({ op: z.string() });
/** One that may be known or not: `operationSchema` tells. */
export type Op = z.output<typeof opSchema>;

/** `POST /v1/apply` */
export const applyRequestSchema = z.object({
  /** Id of the plan that `files` belong to; with mode `revert_lkg` the plan that shall go. */
  planId: planIdSchema,
  /** What the stamp in `haproxy.cfg` says once this plan is loaded. */
  textId: z.string().max(128),
  token: requestTokenSchema,
  /** The plan whose files the sender believes are in place; null: none. Anything else is a conflict. */
  expect: planIdSchema.nullable(),
  /**
   * `auto`: write the files and run `ops`; without ops nothing is loaded. `reload`: write the files and reload.
   * `revert_lkg`: back to the last known good; `files` is ignored. Unknown modes are a reload.
   */
  mode: z.string(),
  /** The complete desired set, `haproxy.cfg` included; with `delta` only what is new or other than in the set of `expect`. */
  files: z.array(applyFileSchema).max(LIMITS.files),
  /** Makes the cost of a change that of what changes. */
  delta: z
    .object({
      /** Paths of the set of `expect` that the desired one has not. */
      removed: z.array(z.string()).max(LIMITS.files),
      /** Proves that both sides mean the same set; see `fileSetDigest`. */
      digest: digestSchema,
    })
    .optional(),
  ops: z.array(opSchema).max(LIMITS.ops).default([]),
  /** Changes of endpoints that run at once even when the reload is paced. */
  inPlaceOps: z.array(opSchema).max(LIMITS.ops).default([]),
  /** Every address that the new configuration binds; new ones are tried before a reload. */
  binds: z
    .array(z.object({ address: z.string() }))
    .max(4_096)
    .default([]),
  /** Id of a plan that all judges passed: if it is the applied one, it becomes the last known good. */
  validated: planIdSchema.optional(),
  plan: sentPlanSchema.default({ chunks: [], data: {} }),
});
/** An apply as the agent reads it: defaults are filled in. */
export type ApplyRequest = z.output<typeof applyRequestSchema>;
/** What a sender writes: defaults may be left out. */
export type ApplyMessage = z.input<typeof applyRequestSchema>;

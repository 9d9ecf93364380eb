import { z } from 'zod';
import { applyAnswerSchema } from './answer.ts';
import { digestSchema, storedPlanSchema, tokenSchema } from './apply.ts';

/** `GET /v1/state[?verify=1][&health=1][&plan=0][&files=0][&after=<generation>[&worker=<pid>]&waitMs=<ms>]` */
export const stateSchema = z.object({
  protocol: z.int(),
  agentVersion: z.string(),
  /** Names of the ops that this agent can do. */
  ops: z.array(z.string()),
  /** Full version of the running worker; null while HAProxy does not answer. */
  haproxyVersion: z.string().nullable(),
  master: z.object({ pid: z.int() }).nullable(),
  /** `startedAt` in seconds since the epoch. */
  worker: z.object({ pid: z.int(), startedAt: z.int() }).nullable(),
  /** Where templates find the tree and the worker's socket. */
  paths: z.object({ base: z.string(), workerSocket: z.string() }),
  /** Rises with every committed apply and with the end of a scheduled one; kept over restarts. */
  generation: z.int().min(0),
  /** The plan whose files are in place. */
  applied: z.string().nullable(),
  /** The plan that the worker loaded; null when another worker than the agent knows is running. */
  running: z.string().nullable(),
  /** The worker runs what is applied. False: only a full reload makes sure. */
  inStep: z.boolean(),
  lkg: z.string().nullable(),
  token: tokenSchema.nullable(),
  /** The stored plan of `applied`; left out with `plan=0`. */
  plan: storedPlanSchema.nullable().optional(),
  /**
   * Digests of the files in place, with `verify=1` read anew from the disk, without those that are gone; left out with `files=0`.
   */
  files: z.record(z.string(), z.string()).optional(),
  /**
   * With `verify=1`: paths whose bytes are not those that were applied, and in words, each with `worker: ` before it, what a worker
   * that should be in step with them holds otherwise.
   */
  drift: z.array(z.string()).optional(),
  /** With `health=1`: what the worker has counted since it started; null while it does not answer. */
  health: z
    .object({ pid: z.int(), requests: z.number().min(0), serverErrors: z.number().min(0) })
    .nullable()
    .optional(),
  /** A reload that waits for its turn. */
  pendingReload: z.object({ planId: z.string(), dueMs: z.number() }).nullable(),
  pendingDeletes: z.array(z.string()),
  lastApply: applyAnswerSchema.nullable(),
  /**
   * What the agent shows and trusts now, by fingerprints; left out by agents that speak no TLS and by older ones. An authority
   * may go when nobody trusts only it, and every agent trusts the one that follows it.
   */
  tls: z.object({ leaf: digestSchema, authorities: z.array(digestSchema) }).optional(),
});
/** What an agent tells of itself and of its HAProxy. */
export type AgentState = z.output<typeof stateSchema>;

const flag = z.enum(['0', '1']).transform((value) => value === '1');
const count = z
  .string()
  .regex(/^\d{1,15}$/, 'expected a whole number')
  .transform(Number);

/** The query of a state request; unknown parameters are ignored. */
export const stateQuerySchema = z.object({
  verify: flag.default(false),
  plan: flag.default(true),
  files: flag.default(true),
  health: flag.default(false),
  /** Answers once the generation is higher, the worker is another than `worker`, or `waitMs` have passed. */
  after: count.optional(),
  /** Pid of the worker that the sender knows; 0: none. */
  worker: count.optional(),
  waitMs: count.default(0),
});
/** What is asked for, with its defaults. */
export type StateQuery = z.output<typeof stateQuerySchema>;

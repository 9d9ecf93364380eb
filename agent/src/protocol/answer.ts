import { z } from 'zod';
import { tokenSchema } from './apply.ts';

/**
 * Where an apply was rejected. `reload`: HAProxy refused the files. `no_verdict`: it said neither yes nor no, in time or at all; the
 * same may pass the next time.
 */
export const stageSchema = z.enum(['verify', 'stage', 'bind', 'reload', 'no_verdict', 'lkg']);
/** One of them. */
export type Stage = z.output<typeof stageSchema>;

/** 200: what became of an apply. */
export const applyAnswerSchema = z.object({
  outcome: z.enum(['runtime', 'file_only', 'reload', 'scheduled', 'noop', 'rejected']),
  /** The plan whose files are in place now; after a rejection the one from before. */
  planId: z.string().nullable(),
  generation: z.int().min(0),
  /** Only with `rejected`. */
  stage: stageSchema.optional(),
  /** HAProxy's own words, or the agent's. */
  message: z.string().optional(),
  /** True when files had been put in place and the former ones were put back. */
  rolledBack: z.boolean().default(false),
  /** Ops were refused and a reload did their work. */
  fellBack: z.boolean().default(false),
  /** What this agent does not know; it did a full reload instead. */
  skew: z.array(z.string()).default([]),
  durationMs: z.number().min(0),
});
/** The body of a 200. */
export type ApplyAnswer = z.output<typeof applyAnswerSchema>;

/** 409: nothing was written. */
export const conflictSchema = z.object({
  /**
   * `prev_mismatch`: other files are in place than expected, plan again. `stale_epoch`: a newer request was here.
   * `unknown_baseline`: the agent has no plan, send all and reload. `missing`: contents of `paths` and `chunks` are needed.
   */
  reason: z.enum(['prev_mismatch', 'stale_epoch', 'unknown_baseline', 'missing']),
  applied: z.string().nullable(),
  /** The newest token seen. */
  token: tokenSchema.nullable(),
  paths: z.array(z.string()).optional(),
  /** Digests of parts of the plan. */
  chunks: z.array(z.string()).optional(),
});
/** The body of a 409. */
export type Conflict = z.output<typeof conflictSchema>;

/** Every other status: 401, 403, 404, 405, 413, 415, 422, 500, 503. */
export const errorAnswerSchema = z.object({
  error: z.string(),
  /** What is wrong, by path in the message: `files.3.digest: expected …`. */
  problems: z.array(z.string()).optional(),
});
/** The body of any other status. */
export type ErrorAnswer = z.output<typeof errorAnswerSchema>;

import { z } from 'zod';

export const options = z.strictObject({
  /** Path of the program, or a name to look up in PATH. */
  binary: z.string().min(1).default('haproxy'),
  /** Start without the program: a warning, and whoever asks this judge gets no verdict. */
  optional: z.boolean().default(false),
  /** Checks at once that somebody waits for; one more may run beside them. */
  concurrency: z.int().min(1).max(64).default(2),
  /** Milliseconds that one check may run. Some configurations make HAProxy loop for ever. */
  timeout: z.int().min(100).max(600_000).default(8000),
  /** Bytes that are kept of what HAProxy prints in one check. */
  maxOutput: z
    .int()
    .min(1024)
    .max(16 * 1024 * 1024)
    .default(256 * 1024),
});

export type Options = z.output<typeof options>;

import { duration, type JsonObject } from '@haptic/core/contract';
import { z } from 'zod';

/** What a text value of a template may have. */
const LARGEST = 1024 * 1024;

const interval = duration
  .refine((ms) => ms >= 10_000 && ms <= 86_400_000, 'expected a duration from "10s" to "24h"')
  .prefault('5m');

const timeout = duration
  .refine((ms) => ms >= 100 && ms <= 60_000, 'expected a duration from "100ms" to "60s"')
  .prefault('10s');

/** The second argument of `http.fetch`. */
const argument = z
  .strictObject({
    /** From one look at the server to the next. */
    interval,
    /** Of one attempt, redirects included. */
    timeout,
    /** Bytes. */
    maxSize: z.int().min(1).max(LARGEST).default(LARGEST),
    /** Nothing is rendered before there is a content. */
    critical: z.boolean().default(false),
    /** What a template gets while nothing was accepted. */
    default: z.string().optional(),
  })
  .refine(({ critical, default: fallback }) => !critical || fallback === undefined, {
    error: 'expected "critical" or "default", not both: what is critical has no substitute',
  });

export const howSchema = z.strictObject({
  intervalMs: z.number(),
  timeoutMs: z.number(),
  maxSize: z.number(),
  critical: z.boolean(),
});
/** How to fetch one URL: all places of a render that fetch it agree on this. */
export type How = z.output<typeof howSchema>;

/** What templates say about a fetch. @throws Error with all that is wrong with it */
export function parseFetchOptions(value: unknown): {
  readonly how: How & JsonObject;
  readonly fallback: string | undefined;
} {
  const parsed = argument.safeParse(value ?? {});
  if (!parsed.success) {
    const problems = parsed.error.issues.map(({ path, message }) => [...path, message].join(': '));
    throw new Error(problems.join('; '));
  }
  const { interval: intervalMs, timeout: timeoutMs, default: fallback, ...rest } = parsed.data;
  return { how: { intervalMs, timeoutMs, ...rest }, fallback };
}

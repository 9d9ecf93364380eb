import { didYouMean, duration, type JsonObject } from '@haptic/core/contract';
import { z } from 'zod';

/** What a text value of a template may have. */
const LARGEST = 1024 * 1024;

const interval = duration
  .refine((ms) => ms >= 10_000 && ms <= 86_400_000, 'expected a duration from "10s" to "24h"')
  .prefault('5m');

const timeout = duration
  .refine((ms) => ms >= 100 && ms <= 60_000, 'expected a duration from "100ms" to "60s"')
  .prefault('10s');

const bytes = `expected a whole number from 1 to ${LARGEST}`;

const shape = {
  /** From one look at the server to the next. */
  interval,
  /** Of one attempt, redirects included. */
  timeout,
  /** Bytes. */
  maxSize: z.int(bytes).min(1, bytes).max(LARGEST, bytes).default(LARGEST),
  /** Nothing is rendered before there is a content. */
  critical: z.boolean('expected true or false').default(false),
  /** What a template gets while nothing was accepted. */
  default: z.string('expected text').optional(),
};

/** The second argument of `http.fetch`. */
const argument = z
  .strictObject(shape, {
    error: ({ code }) => (code === 'invalid_type' ? 'expected options such as {interval: "5m"}' : undefined),
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

function problemsOf(issue: z.core.$ZodIssue): readonly string[] {
  if (issue.code !== 'unrecognized_keys') return [[...issue.path, issue.message].join(': ')];
  return issue.keys.map((key) => `unknown option "${key}"${didYouMean(key, Object.keys(shape))}`);
}

/** What templates say about a fetch. @throws Error with all that is wrong with it */
export function parseFetchOptions(value: unknown): {
  readonly how: How & JsonObject;
  readonly fallback: string | undefined;
} {
  const parsed = argument.safeParse(value ?? {});
  if (!parsed.success) {
    throw new Error(parsed.error.issues.flatMap(problemsOf).join('; '));
  }
  const { interval: intervalMs, timeout: timeoutMs, default: fallback, ...rest } = parsed.data;
  return { how: { intervalMs, timeoutMs, ...rest }, fallback };
}

import type { JsonObject } from '@haptic/core/contract';
import { z } from 'zod';

/** What a text value of a template may have. */
const LARGEST = 1024 * 1024;

/** How to fetch one URL. Two places of one configuration that fetch the same URL agree on these. */
const how = {
  /** Seconds between two looks at the server. */
  interval: z.number().min(10).max(86_400).default(300),
  /** Seconds that one attempt may take, redirects included. */
  timeout: z.number().min(0.1).max(60).default(10),
  /** Bytes. */
  maxSize: z.int().min(1).max(LARGEST).default(LARGEST),
  /** Nothing is rendered before there is a content. */
  critical: z.boolean().default(false),
};

export const howSchema = z.strictObject(how);
export type How = z.output<typeof howSchema>;

const argument = z
  .strictObject({
    ...how,
    /** What a template gets while nothing was accepted. */
    default: z.string().optional(),
  })
  .refine(({ critical, default: fallback }) => !critical || fallback === undefined, {
    error: 'expected "critical" or "default", not both: what is critical has no substitute',
  });

/** The second argument of `http.fetch`. @throws Error with all that is wrong with it */
export function parseFetchOptions(value: unknown): {
  readonly how: How & JsonObject;
  readonly fallback?: string | undefined;
} {
  const parsed = argument.safeParse(value ?? {});
  if (!parsed.success) {
    const problems = parsed.error.issues.map(({ path, message }) => [...path, message].join(': '));
    throw new Error(problems.join('; '));
  }
  const { default: fallback, ...rest } = parsed.data;
  return { how: rest, fallback };
}

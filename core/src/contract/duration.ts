import { z } from 'zod';

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** Timers of the runtime count in 31 bits: a longer one would fire at once. */
const LONGEST = 2 ** 31 - 1;

const EXPECTED = 'expected a duration such as "500ms", "30s", "2m" or "1h"';

/** Milliseconds of `500ms`, `30s`, `2m` or `1h`; undefined for other text. */
function milliseconds(text: string): number | undefined {
  const match = /^(\d{1,10})(ms|s|m|h)$/.exec(text);
  return match === null ? undefined : Number(match[1]) * UNITS[match[2]!]!;
}

/** What a duration looks like, for schemas that are generated from ours. */
const asText = { type: 'string', pattern: '^[0-9]{1,10}(ms|s|m|h)$' } as const;

/** A duration as text, parsed to milliseconds. */
export const duration = z
  .unknown()
  .meta(asText)
  .transform((value, context): number => {
    const parsed = typeof value === 'string' ? milliseconds(value) : undefined;
    if (parsed !== undefined && parsed <= LONGEST) return parsed;
    const message = parsed === undefined ? EXPECTED : 'longer than the longest possible duration, 24 days';
    context.issues.push({ code: 'custom', message, input: value });
    return z.NEVER;
  });

/** A duration for what cannot take no time at all. */
export const positiveDuration = duration.refine((ms) => ms > 0, 'must be longer than nothing');

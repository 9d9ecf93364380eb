import { z } from 'zod';
import { duration, positiveDuration } from '../contract/duration.ts';

const budget = z.int().min(1).exactOptional();

/** The part of the config that no plugin owns. */
export const controller = z.strictObject({
  logging: z.strictObject({ level: z.enum(['debug', 'info', 'warn', 'error']).default('info') }).prefault({}),
  debounce: duration.prefault('50ms'),
  renderTimeout: positiveDuration.prefault('30s'),
  /** Tests of libraries that do not hold with what this configuration overrides: they are not run. */
  skipTests: z.array(z.string().min(1)).default([]),
  /** What one namespace may use. */
  budgets: z
    .strictObject({
      routes: budget,
      certificates: budget,
      regexes: budget,
      mapBytes: budget,
      listLength: budget,
    })
    .prefault({}),
});

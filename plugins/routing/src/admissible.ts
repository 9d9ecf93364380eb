import { didYouMean, type ObjectCheck } from '@haptic/core/contract';
import { z } from 'zod';

/** To the API server null is absent. */
export function isAbsent(value: unknown): value is null | undefined {
  return value === undefined || value === null;
}

function quote(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : JSON.stringify(value);
}

/** How a schema of an admissible object speaks of a value that is another one than `what`. */
export function expected(what: string) {
  return {
    error: ({ input }: { readonly input?: unknown }) =>
      isAbsent(input) ? `missing, expected ${what}` : `expected ${what}, got ${quote(input)}`,
  };
}

export function oneOf<const T extends readonly string[]>(values: T) {
  return z.enum(values, {
    error: ({ input }) => {
      const hint = typeof input === 'string' ? didYouMean(input, values) : '';
      return expected(`one of ${values.join(', ')}`).error({ input }) + hint;
    },
  });
}

/** A check of one kind: what a schema of what the Kubernetes API accepts says. Unknown fields are not among its problems. */
export function objectCheck(apiVersion: string, kind: string, schema: z.ZodType): ObjectCheck {
  return {
    apiVersion,
    kind,
    problems(object) {
      const issues = schema.safeParse(object).error?.issues ?? [];
      return issues.map(({ path, message }) => ({ path: path as (string | number)[], message }));
    },
  };
}

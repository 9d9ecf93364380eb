import { z } from 'zod';
import { checkedText } from './checked-text.ts';
import { jsonObject, requires } from './content-schema.ts';
import { parsePattern } from './pattern.ts';
import { parseTarget } from './target.ts';

const fixture = z.looseObject({
  apiVersion: z.string().min(1),
  kind: z.string().min(1),
  metadata: z.looseObject({ name: z.string().min(1), namespace: z.string().min(1).exactOptional() }),
});
const fixtures = z.record(z.string(), z.array(fixture)).default({});

const description = z.string().exactOptional();
const target = checkedText(parseTarget);
const pattern = checkedText(parsePattern);

/** Types of the design that this version cannot judge yet: an error of their own, never a claim that silently holds. */
const notYet = z
  .looseObject({ type: z.literal(['deterministic', 'jsonpath', 'match_order', 'routes']) })
  .transform((assertion, context) => {
    const message = `assertion type "${assertion.type}" is not available in this version`;
    context.issues.push({ code: 'custom', path: ['type'], message, input: assertion });
    return z.NEVER;
  });

const assertion = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal(['contains', 'not_contains']), description, target, pattern }),
  z.strictObject({ type: z.literal('equals'), description, target, expected: z.string() }),
  z.strictObject({ type: z.literal('match_count'), description, target, pattern, expected: z.int().min(0) }),
  z.strictObject({ type: z.literal('haproxy_valid'), description }),
  z.strictObject({ type: z.literal('rendering_error'), description, pattern: pattern.exactOptional() }),
  notYet,
]);

/** Keys of the design that this version cannot honour yet. */
const unavailable = z.undefined('not available in this version').exactOptional();
const later = { httpResources: unavailable, currentServers: unavailable, currentFiles: unavailable };

const shared = { description, fixtures, settings: jsonObject.default({}), requires, ...later };

export const validationTest = z.strictObject({
  ...shared,
  minHAProxyVersion: z
    .string()
    .regex(/^\d+\.\d+(?:\.\d+)?$/, 'expected a version such as "3.2", in quotes')
    .exactOptional(),
  assertions: z.array(assertion).min(1),
});

/** What all tests share. It claims nothing itself, so assertions are unknown keys here. */
export const globalTest = z.strictObject(shared);

import { z } from 'zod';
import { mergeVariants } from './variants.ts';

/** A rule of the API server's own language, with the words of its refusal. */
export interface CelRule {
  readonly rule: string;
  readonly message: string;
}

/** The part of OpenAPI that a CustomResourceDefinition may use (“structural”). */
export interface Structural {
  readonly type?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Structural>>;
  readonly additionalProperties?: Structural;
  readonly items?: Structural;
  readonly required?: readonly string[];
  readonly enum?: readonly unknown[];
  readonly [keyword: string]: unknown;
}

/** What zod makes of a schema; only what is read here. */
interface JsonSchema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: JsonSchema | boolean;
  readonly items?: JsonSchema;
  readonly required?: readonly string[];
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly pattern?: string;
  readonly [keyword: string]: unknown;
}

/** The most that a record or a list holds: the API server weighs a rule by all that it may have to read. */
const MOST_ENTRIES = 1_000;
const MOST_ITEMS = 256;

/**
 * A zod schema of what users write as a structural schema. What the structure cannot say stays with zod, which judges every
 * object again when it is read: unknown keys (the server drops or refuses them by the client's wish) and refinements.
 *
 * Defaults are left out: they would be written into every stored object, and a later version could not change them.
 */
export function structuralSchema(schema: z.ZodType): Structural {
  const json = z.toJSONSchema(schema, {
    io: 'input',
    target: 'openapi-3.0',
    unrepresentable: 'any',
    reused: 'inline',
  });
  return convert(json as JsonSchema);
}

const COPIED = [
  'description',
  'enum',
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'minItems',
  'minProperties',
  'format',
] as const;

function convert(schema: JsonSchema): Structural {
  const variants = schema.oneOf ?? schema.anyOf;
  if (variants !== undefined) return mergeVariants(variants.map((variant) => convert(variant)));
  const copied = Object.fromEntries(
    COPIED.filter((key) => schema[key] !== undefined).map((key) => [key, schema[key]]),
  );
  if (schema.type === undefined) return { ...copied, 'x-kubernetes-preserve-unknown-fields': true };
  const base = { type: schema.type, ...withoutSafeInteger(copied), ...pattern(schema.pattern) };
  if (schema.type === 'array')
    return { ...base, maxItems: schema.maxItems ?? MOST_ITEMS, items: convert(schema.items ?? {}) };
  return schema.type === 'object' ? { ...base, ...members(schema) } : base;
}

/**
 * Names that are known, names that are free, or both. The structure knows only one of the two: a known name beside free ones is
 * judged as one of them, without what it need not have.
 */
function members({ properties = {}, additionalProperties, required = [] }: JsonSchema): Structural {
  const known = Object.entries(properties).map(([name, value]) => [name, convert(value)] as const);
  if (typeof additionalProperties === 'object' && !isAnything(additionalProperties)) {
    return {
      maxProperties: MOST_ENTRIES,
      additionalProperties: optionalBeside(
        known.map(([, value]) => value),
        convert(additionalProperties),
      ),
    };
  }
  return {
    ...(known.length > 0 && { properties: Object.fromEntries(known) }),
    ...(required.length > 0 && { required }),
    ...((known.length === 0 || additionalProperties !== false) && {
      'x-kubernetes-preserve-unknown-fields': true,
    }),
  };
}

function optionalBeside(known: readonly Structural[], free: Structural): Structural {
  if (known.length === 0 || free.required === undefined) return free;
  const { required, ...rest } = free;
  const byAll = required.filter((name) => known.every((one) => one.required?.includes(name) === true));
  return byAll.length === 0 ? rest : { ...rest, required: byAll };
}

function isAnything(schema: JsonSchema): boolean {
  return Object.keys(schema).length === 0;
}

/** zod bounds every whole number by what JavaScript can count to, which says nothing to a reader. */
function withoutSafeInteger(keywords: Record<string, unknown>): Record<string, unknown> {
  const unbounded = Object.entries(keywords).filter(
    ([, value]) => Math.abs(Number(value)) !== Number.MAX_SAFE_INTEGER,
  );
  return Object.fromEntries(unbounded);
}

/** The server's regular expressions know no look-around; zod judges those names when the object is read. */
function pattern(text: string | undefined): { readonly pattern?: string } {
  return text === undefined || text.includes('(?!') || text.includes('(?=') ? {} : { pattern: text };
}

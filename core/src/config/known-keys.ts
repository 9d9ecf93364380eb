import type { z } from 'zod';

interface Def {
  readonly type: string;
  readonly innerType?: z.ZodType;
  readonly in?: z.ZodType;
  readonly element?: z.ZodType;
  readonly valueType?: z.ZodType;
  readonly catchall?: z.ZodType;
  readonly shape?: Readonly<Record<string, z.ZodType>>;
  readonly options?: readonly z.ZodType[];
}

/** The schema below wrappers such as optional, default and transform. */
function unwrap(schema: z.ZodType): Def {
  const def = schema.def as unknown as Def;
  const inner = def.innerType ?? def.in;
  return inner === undefined ? def : unwrap(inner);
}

/** The member of a union that reads `value`: the one that would accept its `type`. */
function memberFor(options: readonly z.ZodType[], value: unknown): z.ZodType | undefined {
  const type = (value as { readonly type?: unknown } | null | undefined)?.type;
  return options.find((option) => unwrap(option).shape?.['type']?.safeParse(type).success === true);
}

function child(def: Def, segment: PropertyKey): z.ZodType | undefined {
  if (def.type === 'array') return def.element;
  if (def.type === 'record') return def.valueType;
  const shape = def.shape ?? {};
  return Object.hasOwn(shape, segment) ? shape[String(segment)] : def.catchall;
}

/** Names of the keys that `schema` knows at `path` of `value`. Empty where any key goes. */
export function knownKeys(
  schema: z.ZodType,
  path: readonly PropertyKey[],
  value: unknown,
): readonly string[] {
  let current: z.ZodType | undefined = schema;
  let data = value;
  for (const segment of [...path, undefined]) {
    if (current === undefined) return [];
    let def = unwrap(current);
    if (def.type === 'union') {
      const member = memberFor(def.options ?? [], data);
      if (member === undefined) return [];
      def = unwrap(member);
    }
    if (segment === undefined) return Object.keys(def.shape ?? {});
    current = child(def, segment);
    data = (data as Readonly<Record<PropertyKey, unknown>> | null | undefined)?.[segment];
  }
  return [];
}

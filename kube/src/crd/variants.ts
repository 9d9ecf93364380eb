import type { CelRule, Structural } from './structural-schema.ts';

/**
 * A union as one structural object: every field of every member, and for each member a rule that says which of them belong to
 * it. A structure has no unions, and `oneOf` would be refused in words that nobody understands.
 */
export function mergeVariants(variants: readonly Structural[]): Structural {
  if (variants.some(({ properties }) => properties === undefined)) return mergePlain(variants);
  const tag = commonTag(variants);
  const names = [...new Set(variants.flatMap((variant) => Object.keys(variant.properties!)))];
  const properties = Object.fromEntries(
    names.map((name) => [
      name,
      union(
        name,
        variants.flatMap((variant): readonly Structural[] => {
          const schema = variant.properties![name];
          return schema === undefined ? [] : [schema];
        }),
        tag,
      ),
    ]),
  );
  return {
    type: 'object',
    properties,
    required: requiredByAll(variants),
    'x-kubernetes-validations': variants.flatMap((variant) =>
      rulesOf(
        variant,
        tag,
        names.filter((name) => isNameable(properties[name]!)),
      ),
    ),
  };
}

/** Members that are no objects share what they share; zod tells them apart when the object is read. */
function mergePlain(variants: readonly Structural[]): Structural {
  const types = new Set(variants.map(({ type }) => type));
  if (types.size === 1 && types.has('string')) return { type: 'string' };
  return { 'x-kubernetes-preserve-unknown-fields': true };
}

function commonTag(variants: readonly Structural[]): string {
  const tags = Object.keys(variants[0]!.properties!).filter((name) =>
    variants.every((variant) => variant.properties![name]?.enum !== undefined),
  );
  const [tag] = tags;
  if (tag === undefined)
    throw new Error('the members of a union have no field in common that tells them apart');
  return tag;
}

function union(name: string, schemas: readonly Structural[], tag: string): Structural {
  if (name === tag) return { type: 'string', enum: schemas.flatMap((schema) => schema.enum ?? []) };
  const [first] = schemas;
  const same = schemas.every((schema) => JSON.stringify(schema) === JSON.stringify(first));
  if (same) return first!;
  const types = new Set(schemas.map(({ type }) => type));
  if ([...types].every((type) => type === 'string' || type === 'integer'))
    return { 'x-kubernetes-int-or-string': true };
  return { 'x-kubernetes-preserve-unknown-fields': true };
}

/** Rules cannot speak of a field that may be anything. */
function isNameable(schema: Structural): boolean {
  return schema.type !== undefined || schema['x-kubernetes-int-or-string'] === true;
}

function requiredByAll(variants: readonly Structural[]): readonly string[] {
  const [first, ...others] = variants.map(({ required = [] }) => required);
  return first!.filter((name) => others.every((required) => required.includes(name)));
}

function rulesOf(variant: Structural, tag: string, names: readonly string[]): readonly CelRule[] {
  const values = variant.properties![tag]!.enum!.map((value) => `'${String(value)}'`);
  const required = (variant.required ?? []).filter((name) => name !== tag && names.includes(name));
  const foreign = names.filter((name) => !Object.hasOwn(variant.properties!, name));
  const conditions = [
    ...required.map((name) => `has(self.${name})`),
    ...foreign.map((name) => `!has(self.${name})`),
  ];
  if (conditions.length === 0) return [];
  const allowed = Object.keys(variant.properties!).filter((name) => name !== tag && !required.includes(name));
  const takes = [
    ...(required.length > 0 ? [`needs ${required.join(', ')}`] : []),
    ...(allowed.length > 0 ? [`may have ${allowed.join(', ')}`] : []),
    'has no other fields',
  ].join(', ');
  return [
    {
      rule: `!(self.${tag} in [${values.join(', ')}]) || (${conditions.join(' && ')})`,
      message: `${tag} ${values.join(' or ')} ${takes}`,
    },
  ];
}

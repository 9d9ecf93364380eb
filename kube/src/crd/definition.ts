import type { z } from 'zod';
import { structuralSchema, type CelRule, type Structural } from './structural-schema.ts';

/** A column of `kubectl get`. */
export interface PrinterColumn {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'date';
  readonly jsonPath: string;
  readonly description?: string;
  /** Above 0: shown by `-o wide` alone. */
  readonly priority?: number;
}

/** A kind of ours, as far as it differs from the others. */
export interface KindDefinition {
  readonly kind: string;
  readonly plural: string;
  readonly shortNames: readonly string[];
  readonly description: string;
  readonly spec: z.ZodType;
  readonly status?: z.ZodType;
  /** What the structure cannot say, by the path of the object that it is about: `spec`, `spec.watchedResources.*`. */
  readonly rules: Readonly<Record<string, readonly CelRule[]>>;
  /** Lists whose members are told apart by a field, by their path: no two may have the same. */
  readonly keyed?: Readonly<Record<string, string>>;
  readonly columns: readonly PrinterColumn[];
}

export interface KindGroup {
  readonly group: string;
  readonly version: string;
}

/** The manifest of a CustomResourceDefinition. */
export function customResourceDefinition({ group, version }: KindGroup, definition: KindDefinition): object {
  const { kind, plural, shortNames } = definition;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase(), shortNames },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          ...(definition.status !== undefined && { subresources: { status: {} } }),
          additionalPrinterColumns: definition.columns,
          schema: { openAPIV3Schema: schemaOf(definition) },
        },
      ],
    },
  };
}

function schemaOf({ description, spec, status, rules, keyed = {} }: KindDefinition): Structural {
  const whole: Structural = {
    description,
    type: 'object',
    required: ['spec'],
    properties: {
      spec: structuralSchema(spec),
      ...(status !== undefined && { status: structuralSchema(status) }),
    },
  };
  const changes = [
    ...Object.entries(rules).map(([path, added]) => [path, withRules(added)] as const),
    ...Object.entries(keyed).map(([path, key]) => [path, keyedBy(key)] as const),
  ];
  return changes.reduce((schema, [path, change]) => changedAt(schema, path.split('.'), change), whole);
}

type Change = (schema: Structural) => Structural;

function withRules(added: readonly CelRule[]): Change {
  return (schema) => {
    const rules = (schema['x-kubernetes-validations'] ?? []) as readonly CelRule[];
    return { ...schema, 'x-kubernetes-validations': [...rules, ...added] };
  };
}

function keyedBy(field: string): Change {
  return (schema) => ({
    ...schema,
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': [field],
  });
}

/** The schema with one part of it changed; `*` in the path stands for every member of a record or a list. */
function changedAt(schema: Structural, path: readonly string[], change: Change): Structural {
  const [step, ...rest] = path;
  if (step === undefined) return change(schema);
  if (step === '*') {
    const key = schema.items === undefined ? 'additionalProperties' : 'items';
    return { ...schema, [key]: changedAt(schema[key]!, rest, change) };
  }
  const member = schema.properties?.[step];
  if (member === undefined) throw new Error(`a rule is about ${step}, which the schema has not`);
  return { ...schema, properties: { ...schema.properties, [step]: changedAt(member, rest, change) } };
}

import { z, type JsonObject, type ObjectRef } from '@haptic/core/contract';

const Ref = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  namespace: z.string(),
  name: z.string(),
  uid: z.string().exactOptional(),
});

const Condition = z.strictObject({
  type: z.string().min(1).max(316),
  status: z.enum(['True', 'False', 'Unknown']),
  reason: z.string().min(1).max(1024).default('Declared'),
  message: z.string().max(32_768).default(''),
  observedGeneration: z.int().min(0).exactOptional(),
});
export type DeclaredCondition = z.output<typeof Condition>;

const Status = z.object({ object: Ref, conditions: z.array(Condition) });

/** What templates say about one object, a type once. */
export interface DeclaredConditions {
  readonly object: ObjectRef;
  readonly conditions: readonly DeclaredCondition[];
}

/** By object; several templates may speak of one, and what the last one says of a type counts. */
export function declaredConditions(statuses: readonly JsonObject[]): {
  readonly declared: readonly DeclaredConditions[];
  /** Why the others are none. */
  readonly problems: readonly string[];
} {
  const byObject = new Map<string, { object: ObjectRef; types: Map<string, DeclaredCondition> }>();
  const problems: string[] = [];
  for (const status of statuses) {
    const parsed = Status.safeParse(status);
    if (!parsed.success) {
      problems.push(z.prettifyError(parsed.error));
      continue;
    }
    const { object, conditions } = parsed.data;
    const key = JSON.stringify([object.apiVersion, object.kind, object.namespace, object.name]);
    const known = byObject.get(key) ?? { object, types: new Map<string, DeclaredCondition>() };
    byObject.set(key, known);
    for (const condition of conditions) known.types.set(condition.type, condition);
  }
  const declared = [...byObject.values()].map(({ object, types }) => ({
    object,
    conditions: [...types.values()],
  }));
  return { declared, problems };
}

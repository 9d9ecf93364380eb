import { readFileSync } from 'node:fs';
import type { AccessRule } from '@haptic/kube';
import { parse } from 'yaml';
import { z } from 'zod';

const rule = z.strictObject({
  apiGroups: z.array(z.string()),
  resources: z.array(z.string()),
  resourceNames: z.array(z.string()).exactOptional(),
  verbs: z.array(z.string()),
});
const rights = z.strictObject({
  cluster: z.array(rule).default([]),
  namespace: z.array(rule).default([]),
});
const schema = z.strictObject({
  plugins: z.record(z.string(), rights),
  libraries: z.record(z.string(), rights),
});

/** As the file has them: names of objects are words with "$". */
export const shippedRules = schema.parse(
  parse(readFileSync(new URL('../../../chart/rbac/controller.yaml', import.meta.url), 'utf8')),
);

export interface ControllerRules {
  readonly cluster: readonly AccessRule[];
  readonly namespace: readonly AccessRule[];
}

const names: Readonly<Record<string, string>> = {
  $config: 'haptic',
  $lease: 'haptic-leader',
  $state: 'haptic-state',
};

/** What the chart grants to a controller with these libraries, for the names that are the defaults of the plugins. */
export function controllerRules(
  libraries: readonly string[] = Object.keys(shippedRules.libraries),
): ControllerRules {
  const granted = [
    ...Object.values(shippedRules.plugins),
    ...libraries.map((library) => shippedRules.libraries[library]!),
  ];
  return {
    cluster: granted.flatMap(({ cluster }) => cluster.map(named)),
    namespace: granted.flatMap(({ namespace }) => namespace.map(named)),
  };
}

function named({ resourceNames, ...fields }: z.output<typeof rule>): AccessRule {
  if (resourceNames === undefined) return fields;
  return { ...fields, resourceNames: resourceNames.map((name) => names[name] ?? name) };
}

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

export interface InstallationNames {
  /** Of the config. */
  readonly config?: string;
  /** Of the Lease, where it is not called after the config. */
  readonly lease?: string;
}

/** What the chart grants to a controller with these libraries, for names that are the defaults of the plugins where nothing is said. */
export function controllerRules(
  libraries: readonly string[] = Object.keys(shippedRules.libraries),
  { config = 'haptic', lease = `${config}-leader` }: InstallationNames = {},
): ControllerRules {
  const granted = [
    ...Object.values(shippedRules.plugins),
    ...libraries.map((library) => shippedRules.libraries[library]!),
  ];
  const names = new Map([
    ['$config', config],
    ['$lease', lease],
    ['$state', `${config}-state`],
  ]);
  const named = ({ resourceNames, ...fields }: z.output<typeof rule>): AccessRule =>
    resourceNames === undefined
      ? fields
      : { ...fields, resourceNames: resourceNames.map((name) => names.get(name) ?? name) };
  return {
    cluster: granted.flatMap(({ cluster }) => cluster.map(named)),
    namespace: granted.flatMap(({ namespace }) => namespace.map(named)),
  };
}

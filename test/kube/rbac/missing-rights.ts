import type { AccessRule } from '@haptic/kube';
import { expect } from 'vitest';
import { until } from '../../haproxy/until.ts';
import type { Controller, World } from '../e2e/world.ts';

/** All rules but those for these resources. */
export function withoutResources(
  rules: readonly AccessRule[],
  ...missing: readonly string[]
): readonly AccessRule[] {
  return rules
    .map((rule) => ({ ...rule, resources: rule.resources.filter((one) => !missing.includes(one)) }))
    .filter(({ resources }) => resources.length > 0);
}

/** Grants the controller of a world, which was given its rights already, others instead. */
export async function granting(
  world: World,
): Promise<(kind: 'role' | 'clusterrole', rules: readonly AccessRule[]) => Promise<string>> {
  const role = (await world.kubectlRun(['get', 'roles', '--output=name'])).trim().split('/')[1]!;
  return (kind, rules) =>
    world.kubectlRun(['patch', kind, role, '--type=merge', '-p', JSON.stringify({ rules })]);
}

interface Readyz {
  readonly ready: boolean;
  readonly checks: readonly { readonly plugin: string; readonly name: string; readonly problem: string }[];
}

/** Until `/readyz` says this of its checks of these plugins, problems by their names. */
export async function untilReadyz(
  controller: Controller,
  plugins: readonly string[],
  expected: { readonly ready?: boolean; readonly said: object },
): Promise<void> {
  await until(
    async () => {
      const { ready, checks } = JSON.parse((await controller.health('/readyz')).body) as Readyz;
      const ours = checks.filter(({ plugin }) => plugins.includes(plugin));
      const said = Object.fromEntries(ours.map(({ name, problem }) => [name, problem]));
      expect({ ready, said }).toEqual({ ready, ...expected });
      return true;
    },
    { deadlineMs: 120_000, what: 'readyz says what is missing' },
  );
}

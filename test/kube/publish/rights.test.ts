import type { AccessRule } from '@haptic/kube';
import { expect, test } from 'vitest';
import { haproxyBinary } from '../../../tools/haproxy/index.ts';
import { forEachCluster } from '../../cluster/index.ts';
import { until } from '../../haproxy/until.ts';
import { ingress, ingressClass, service } from '../e2e/objects.ts';
import { World } from '../e2e/world.ts';
import { controllerRules } from '../rbac/controller-rules.ts';

const plugins = [{ use: '@haptic/publish', options: { addresses: [{ ip: '192.0.2.1' }] } }];

const without = (rules: readonly AccessRule[], missing: string): readonly AccessRule[] =>
  rules.filter(({ resources }) => !resources.includes(missing));

interface Readyz {
  readonly ready: boolean;
  readonly checks: readonly { readonly plugin: string; readonly name: string; readonly problem: string }[];
}

forEachCluster(
  (cluster, programs) => {
    test(
      'health says which right to publish is missing, as long as it is',
      { timeout: 240_000 },
      async () => {
        await using namespace = await cluster().namespace();
        const world = await World.open(cluster(), programs.kubectl, namespace.name);
        await world.install();
        await world.apply(ingressClass, service('app'), ingress('one', `one.${namespace.name}`, 'app'));
        const rules = controllerRules();
        const kubeconfig = await world.controllerKubeconfig({
          ...rules,
          cluster: without(rules.cluster, 'ingresses/status'),
        });
        const controller = await world.startController([], {
          haproxy: await haproxyBinary('3.4'),
          kubeconfig,
          plugins,
        });
        const untilProblem = (expected: unknown): Promise<unknown> =>
          until(
            async () => {
              const { ready, checks } = JSON.parse((await controller.health('/readyz')).body) as Readyz;
              const problem = checks.find(
                ({ plugin, name }) => plugin === 'publish' && name === 'publishing',
              );
              expect([ready, problem?.problem]).toEqual([true, expected]);
              return true;
            },
            { deadlineMs: 120_000, what: 'health says what cannot be published' },
          );
        await untilProblem(
          expect.stringMatching(/^PATCH \/.*\/ingresses\/one\/status.*: 403 .*cannot patch resource/),
        );

        const role = (await world.kubectlRun(['get', 'roles', '--output=name'])).trim().split('/')[1]!;
        const granted = JSON.stringify({ rules: rules.cluster });
        await world.kubectlRun(['patch', 'clusterrole', role, '--type=merge', '-p', granted]);
        await untilProblem(undefined);
        const address = '{.status.loadBalancer.ingress[*].ip}';
        const published = await world.kubectlRun(['get', 'ingress', 'one', `--output=jsonpath=${address}`]);
        expect(published).toBe('192.0.2.1');
      },
    );
  },
  ['1.37'],
);

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
  readonly checks: readonly { readonly plugin: string; readonly name: string; readonly problem: string }[];
}

forEachCluster(
  (cluster, programs) => {
    test(
      'health says which right is missing to keep and to publish, as long as it is',
      { timeout: 240_000 },
      async () => {
        await using namespace = await cluster().namespace();
        const world = await World.open(cluster(), programs.kubectl, namespace.name);
        await world.install();
        await world.apply(ingressClass, service('app'), ingress('one', `one.${namespace.name}`, 'app'));
        const rules = controllerRules();
        const kubeconfig = await world.controllerKubeconfig({
          cluster: without(rules.cluster, 'ingresses/status'),
          namespace: without(rules.namespace, 'configmaps'),
        });
        const role = (await world.kubectlRun(['get', 'roles', '--output=name'])).trim().split('/')[1]!;
        const grant = (kind: string, granted: readonly AccessRule[]): Promise<string> =>
          world.kubectlRun(['patch', kind, role, '--type=merge', '-p', JSON.stringify({ rules: granted })]);
        const controller = await world.startController([], {
          haproxy: await haproxyBinary('3.4'),
          kubeconfig,
          plugins,
        });
        const untilSaid = (expected: object): Promise<unknown> =>
          until(
            async () => {
              const { checks } = JSON.parse((await controller.health('/readyz')).body) as Readyz;
              const said = checks.filter(({ plugin }) => ['publish', 'state-kube'].includes(plugin));
              expect(Object.fromEntries(said.map(({ name, problem }) => [name, problem]))).toEqual(expected);
              return true;
            },
            { deadlineMs: 120_000, what: 'health says what is missing' },
          );
        await untilSaid({
          state: expect.stringMatching(/cannot be read: .*cannot get resource "configmaps"/),
        });

        await grant('role', rules.namespace);
        const patch = /^PATCH \/.*\/ingresses\/one\/status.*: 403 .*cannot patch resource/;
        await untilSaid({ publishing: expect.stringMatching(patch) });

        await grant('clusterrole', rules.cluster);
        await untilSaid({});
        expect((await controller.health('/readyz')).status).toBe(200);
        const address = '{.status.loadBalancer.ingress[*].ip}';
        const published = await world.kubectlRun(['get', 'ingress', 'one', `--output=jsonpath=${address}`]);
        expect(published).toBe('192.0.2.1');
      },
    );
  },
  ['1.37'],
);

import { expect, test } from 'vitest';
import { haproxyBinary } from '../../../tools/haproxy/index.ts';
import { forEachCluster } from '../../cluster/index.ts';
import { ingress, ingressClass, service } from '../e2e/objects.ts';
import { World } from '../e2e/world.ts';
import { controllerRules } from '../rbac/controller-rules.ts';
import { granting, untilReadyz, withoutResources } from '../rbac/missing-rights.ts';

const plugins = [{ use: '@haptic/publish', options: { addresses: [{ ip: '192.0.2.1' }] } }];

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
          cluster: withoutResources(rules.cluster, 'ingresses/status'),
          namespace: withoutResources(rules.namespace, 'configmaps'),
        });
        const grant = await granting(world);
        const controller = await world.startController([], {
          haproxy: await haproxyBinary('3.4'),
          kubeconfig,
          plugins,
        });
        const untilSaid = (said: object): Promise<void> =>
          untilReadyz(controller, ['publish', 'state-kube'], { said });
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

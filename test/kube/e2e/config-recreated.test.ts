import { declaredRules } from '@haptic/publish';
import { expect, test } from 'vitest';
import { haproxyBinary } from '../../../tools/haproxy/index.ts';
import { forEachCluster } from '../../cluster/index.ts';
import { until } from '../../haproxy/until.ts';
import { controllerRules } from '../rbac/controller-rules.ts';
import { ingressClass } from './objects.ts';
import { installation } from './installation.ts';
import { World } from './world.ts';

const SLOW = 240_000;
const patience = { deadlineMs: 30_000 };
/** The garbage collector learns of new kinds twice a minute. */
const collected = { deadlineMs: 120_000 };
const template = 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: declared }\ndata: { a: b }\n';

forEachCluster(
  (cluster, programs) => {
    test('what a config owned is there again when the config is made anew', { timeout: SLOW }, async () => {
      await using namespace = await cluster().namespace();
      const haproxy = await haproxyBinary('3.4');
      const world = await World.open(cluster(), programs.kubectl, namespace.name);
      const listeners = { i80: { bind: `127.0.0.1:${world.port}` } };
      const objects = installation(namespace.name, { listeners });
      const config = objects.at(-1)!;
      const declaring = { ...config, spec: { ...config.spec, k8sResources: { own: { template } } } };
      await world.install();
      await world.apply(declaring, ingressClass);
      const pod = await world.startPod('haproxy-0', haproxy);
      const rules = controllerRules();
      const kubeconfig = await world.controllerKubeconfig({
        ...rules,
        namespace: [...rules.namespace, ...declaredRules('', 'configmaps')],
      });
      const controller = await world.startController([pod], { haproxy, kubeconfig });
      const owned = async (): Promise<string> =>
        world.kubectlRun([
          'get',
          'configmap/declared',
          'haproxycfg/haptic',
          '--output=name',
          '--ignore-not-found',
        ]);
      const both = 'configmap/declared\nhaproxycfg.haproxy-haptic.org/haptic';
      await until(async () => (await owned()) === both, { ...patience, what: 'both are there' });
      await world.kubectlRun(['delete', 'htplcfg', 'haptic']);
      await controller.untilLogged('a configuration was rejected');
      await until(async () => (await owned()) === '', {
        ...collected,
        what: 'the garbage collector has taken them',
      });
      await world.apply(declaring);
      await controller.untilLogged('the configuration is again the one that serves');
      await until(async () => (await owned()) === both, { ...patience, what: 'both are there again' });
      const errors = controller.log().filter(({ level }) => level === 'error');
      expect(errors.map(({ msg }) => msg)).toEqual(['a configuration was rejected']);
    });
  },
  ['1.37'],
);

import { expect, test } from 'vitest';
import { haproxyBinary } from '../../../tools/haproxy/index.ts';
import { forEachCluster } from '../../cluster/index.ts';
import { until } from '../../haproxy/until.ts';
import { World, type Controller } from '../e2e/world.ts';
import { controllerRules } from '../rbac/controller-rules.ts';
import { granting, untilReadyz, withoutResources } from '../rbac/missing-rights.ts';

const SLOW = 180_000;

/** Of the watches of these, in words: how often each line was written. */
function lines(controller: Controller, resource: string): Readonly<Record<string, number>> {
  const paths = controller.log().filter(({ path }) => String(path).endsWith(`/${resource}`));
  return Object.fromEntries(
    Map.groupBy(paths, ({ msg }) => msg)
      .entries()
      .map(([words, all]) => [words, all.length]),
  );
}

forEachCluster(
  (cluster, programs) => {
    test(
      'whoever asks hears which right is missing, and who reads the log once',
      { timeout: SLOW },
      async () => {
        await using namespace = await cluster().namespace();
        const world = await World.open(cluster(), programs.kubectl, namespace.name);
        await world.install();
        const rules = controllerRules();
        const [ours, theirs] = [['haproxytemplateconfigs', 'haproxytemplatelibraries'], 'ingresses'];
        const kubeconfig = await world.controllerKubeconfig({
          cluster: withoutResources(rules.cluster, theirs),
          namespace: withoutResources(rules.namespace, ...ours, 'configmaps'),
        });
        const grant = await granting(world);

        const controller = await world.startController([], {
          haproxy: await haproxyBinary('3.4'),
          kubeconfig,
        });
        await controller.untilLogged('answers probes');
        const cannot = (...resources: readonly string[]): unknown =>
          expect.stringMatching(
            resources.map((one) => `GET /.*/${one}: 403 .*cannot list resource "${one}"`).join('.*; '),
          );
        await untilReadyz(controller, ['source-crd'], {
          ready: false,
          said: { configuration: cannot(...ours) },
        });
        const untilTold = (resource: string, wanted: object): Promise<unknown> =>
          until(
            () => {
              expect(lines(controller, resource)).toEqual(wanted);
              return true;
            },
            { deadlineMs: 60_000, what: `the log tells of ${resource}` },
          );
        const begun = { 'the watch fails repeatedly': 1 };
        const over = { ...begun, 'the watch works again': 1 };
        for (const resource of ours) await untilTold(resource, begun);

        await grant('role', rules.namespace);
        await untilReadyz(controller, ['source-crd'], {
          ready: false,
          said: { 'watched resources': cannot(theirs) },
        });
        await untilTold(theirs, begun);
        for (const resource of ours) await untilTold(resource, over);

        await grant('clusterrole', rules.cluster);
        await untilReadyz(controller, ['source-crd'], { ready: true, said: {} });
        await untilTold(theirs, over);
        const complaints = controller.log().filter(({ level }) => ['warn', 'error'].includes(level));
        expect(complaints.map(({ document }) => document)).toContain('profiles');
        expect(complaints.filter(({ plugin, component }) => (plugin ?? component) === undefined)).toEqual([]);
      },
    );
  },
  ['1.37'],
);

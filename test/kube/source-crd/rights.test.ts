import type { AccessRule } from '@haptic/kube';
import { expect, test } from 'vitest';
import { haproxyBinary } from '../../../tools/haproxy/index.ts';
import { forEachCluster } from '../../cluster/index.ts';
import { until } from '../../haproxy/until.ts';
import { World, type Controller } from '../e2e/world.ts';
import { controllerRules } from '../rbac/controller-rules.ts';

const SLOW = 180_000;

const without = (rules: readonly AccessRule[], ...missing: readonly string[]): readonly AccessRule[] =>
  rules
    .map((rule) => ({ ...rule, resources: rule.resources.filter((one) => !missing.includes(one)) }))
    .filter(({ resources }) => resources.length > 0);

interface Readyz {
  readonly ready: boolean;
  readonly checks: readonly { readonly plugin: string; readonly name: string; readonly problem: string }[];
}

/** What `/readyz` says of the source, once it is so. */
async function untilReadyz(controller: Controller, expected: object): Promise<void> {
  await until(
    async () => {
      const { ready, checks } = JSON.parse((await controller.health('/readyz')).body) as Readyz;
      const said = checks.filter(({ plugin }) => plugin === 'source-crd');
      expect({ ready, said: Object.fromEntries(said.map(({ name, problem }) => [name, problem])) }).toEqual(
        expected,
      );
      return true;
    },
    { deadlineMs: 60_000, what: 'readyz says what is missing' },
  );
}

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
          cluster: without(rules.cluster, theirs),
          namespace: without(rules.namespace, ...ours, 'configmaps'),
        });
        const role = (await world.kubectlRun(['get', 'roles', '--output=name'])).trim().split('/')[1]!;
        const grant = (kind: string, granted: readonly AccessRule[]): Promise<string> =>
          world.kubectlRun(['patch', kind, role, '--type=merge', '-p', JSON.stringify({ rules: granted })]);

        const controller = await world.startController([], {
          haproxy: await haproxyBinary('3.4'),
          kubeconfig,
        });
        await controller.untilLogged('answers probes');
        const cannot = (...resources: readonly string[]): unknown =>
          expect.stringMatching(
            resources.map((one) => `GET /.*/${one}: 403 .*cannot list resource "${one}"`).join('.*; '),
          );
        await untilReadyz(controller, { ready: false, said: { configuration: cannot(...ours) } });
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
        await untilReadyz(controller, { ready: false, said: { 'watched resources': cannot(theirs) } });
        await untilTold(theirs, begun);
        for (const resource of ours) await untilTold(resource, over);

        await grant('clusterrole', rules.cluster);
        await untilReadyz(controller, { ready: true, said: {} });
        await untilTold(theirs, over);
        const complaints = controller.log().filter(({ level }) => ['warn', 'error'].includes(level));
        expect(complaints.map(({ document }) => document)).toContain('profiles');
        expect(complaints.filter(({ plugin, component }) => (plugin ?? component) === undefined)).toEqual([]);
      },
    );
  },
  ['1.37'],
);

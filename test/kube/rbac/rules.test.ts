import { readFileSync } from 'node:fs';
import { accessRules as discoveryRules } from '@haptic/pod-discovery';
import { addressRules, namespaceRules, watchedRules } from '@haptic/publish';
import { accessRules as stateRules } from '@haptic/state-kube';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { haproxyBinary } from '../../../tools/haproxy/index.ts';
import { CONTROLLER, MountedSecret, tlsContents } from '../../agent/tls-secret.ts';
import { CertificateAuthority } from '../../cluster/certificates.ts';
import { forEachCluster } from '../../cluster/index.ts';
import { root } from '../../e2e/haptic-process.ts';
import { until } from '../../haproxy/until.ts';
import { ingress, ingressClass, service } from '../e2e/objects.ts';
import { World } from '../e2e/world.ts';
import { controllerRules, shippedRules } from './controller-rules.ts';
import { missedTogether, singleRights, without, type SingleRight } from './single-rights.ts';

interface Watched {
  readonly apiVersion?: string;
  readonly apiVersions?: readonly string[];
  readonly resources: string;
}

describe('the rules that the chart ships', () => {
  test.each(Object.keys(shippedRules.libraries))('hold what the library %s watches, no more', (library) => {
    const text = readFileSync(new URL(`../../../chart/libraries/${library}.yaml`, import.meta.url), 'utf8');
    const { watchedResources } = parse(text) as { watchedResources: Record<string, Watched> };
    const watched = Object.values(watchedResources).flatMap(
      ({ apiVersion = '', apiVersions = [apiVersion], resources }) =>
        apiVersions.map((version) => `${version.includes('/') ? version.split('/')[0] : ''}/${resources}`),
    );
    const { cluster, namespace } = shippedRules.libraries[library]!;
    const granted = cluster.flatMap(({ apiGroups, resources, verbs }) => {
      expect(verbs).toEqual(['list', 'watch']);
      return apiGroups.flatMap((group) => resources.map((resource) => `${group}/${resource}`));
    });
    expect(granted.toSorted()).toEqual([...new Set(watched)].toSorted());
    expect(namespace).toEqual([]);
  });

  test('are those that the plugins say they need', () => {
    expect(shippedRules.plugins).toMatchObject({
      'pod-discovery': { cluster: [], namespace: discoveryRules() },
      publish: { cluster: watchedRules, namespace: namespaceRules('$config') },
      'publish-addresses': { cluster: addressRules, namespace: [] },
      'state-kube': { cluster: [], namespace: stateRules('$state') },
    });
  });
});

/** Refuses wildcard hosts: what it refuses is quarantined, and who is quarantined is kept and gets an Event. */
const judge = { use: `${root}/examples/plugins/no-wildcard-hosts.mjs`, options: { allow: ['*.shop.test'] } };

/**
 * A short run takes what most depends on, and what is granted for one name only. All of them take two minutes: most start a
 * controller for three seconds, and creations and changes of what is published are tried again only after half a minute.
 */
function someOf<T>(groups: readonly (readonly [name: string, T])[]): readonly (readonly [name: string, T])[] {
  if (process.env['HAPTIC_SOAK'] === '1') return groups;
  const most = [
    'all watches',
    'lists of watched resources',
    'lists of the configuration',
    'looks at the lease',
  ];
  const named = ['get what is published', 'patch what is published in a status'];
  return groups.filter(([name]) => [...most, ...named].includes(name));
}

const plugins = [judge, { use: '@haptic/publish', options: { addresses: [{ ip: '192.0.2.1' }] } }];
const args = ['--log-level=debug'];

/** Of the agents, which a controller that looks for pods has to trust. */
const authority = await CertificateAuthority.create('agents');

forEachCluster(
  (cluster, programs) => {
    describe('the rules that the chart ships', () => {
      const rules = controllerRules();
      const groups = someOf([...missedTogether(singleRights(rules))]);

      async function everything(namespace: string): Promise<World> {
        const world = await World.open(cluster(), programs.kubectl, namespace);
        await world.install({}, 'all');
        const selecting = JSON.stringify({ spec: { podSelector: { matchLabels: { app: 'haproxy' } } } });
        await world.kubectlRun(['patch', 'htplcfg', 'haptic', '--type=merge', '-p', selecting]);
        const good = ingress('good', `good.${namespace}`, 'app');
        await world.apply(ingressClass, service('app'), ingress('first', `*.${namespace}`, 'app'), good);
        return world;
      }

      test('let nobody ask in vain', { timeout: 240_000 }, async () => {
        await using namespace = await cluster().namespace();
        const world = await everything(namespace.name);
        const haproxy = await haproxyBinary('3.4');
        const pod = await world.startPod('haproxy-0', haproxy);
        const controller = await world.startController([pod], { haproxy, args, plugins });
        await controller.untilLogged('a pod took a plan');
        await kept(world, 'first');
        await world.apply(ingress('second', `*.second.${namespace.name}`, 'app'));
        await kept(world, 'second');
        process.kill(controller.pid, 'SIGTERM');
        expect(await controller.ended).toBe(0);
        expect(controller.stdout()).not.toContain('forbidden');
      });

      test.each(groups)('are needed: %s', { timeout: 240_000 }, async (_, missing) => {
        await using namespace = await cluster().namespace();
        const world = await everything(namespace.name);
        const haproxy = await haproxyBinary('3.4');
        const kubeconfig = await world.controllerKubeconfig(without(rules, missing));
        const looksForPods = missing.some(({ resource }) => resource === 'pods');
        const { files: tls } = await MountedSecret.create(await tlsContents(authority, CONTROLLER));
        const controller = await world.startController(
          looksForPods ? [] : [await world.startPod('haproxy-0', haproxy)],
          {
            haproxy,
            kubeconfig,
            args,
            plugins,
            ...(looksForPods && { deployAgent: { mode: 'discover', tls } }),
          },
        );
        if (missing.some(({ verb, resource }) => verb === 'patch' && resource === 'configmaps')) {
          await kept(world, 'first');
          await world.apply(ingress('second', `*.second.${namespace.name}`, 'app'));
        }
        await until(
          () => {
            const said = controller.stdout();
            const silent = missing.filter((right) => !isRefused(right, said));
            if (silent.length > 0) {
              const rights = silent.map(({ verb, resource }) => `${verb} ${resource}`);
              throw new Error(`nobody misses: ${rights.join(', ')}`);
            }
            return true;
          },
          { deadlineMs: 60_000, what: 'what is missing is missed' },
        );
      });
    });
  },
  ['1.37'],
);

/** In the words of the server, which has none for a creation by server-side apply. */
function isRefused({ rule, verb, resource }: SingleRight, said: string): boolean {
  if (said.includes(`cannot ${verb} resource \\"${resource}\\"`)) return true;
  const group = rule.apiGroups[0] === '' ? '' : `.${rule.apiGroups[0]}`;
  return verb === 'create' && new RegExp(`${resource}${group} \\\\"[^"]+" is forbidden`).test(said);
}

/** The state that is kept names the object. */
async function kept(world: World, name: string): Promise<void> {
  await until(
    async () => (await world.kubectlRun(['get', 'configmap', 'haptic-state', '-o', 'yaml'])).includes(name),
    { deadlineMs: 60_000, what: `${name} is kept` },
  );
}

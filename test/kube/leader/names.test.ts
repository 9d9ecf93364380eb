import { STATE_STORE, TERM, type MergedConfig, type Term } from '@haptic/core/contract';
import { createHooks, Host } from '@haptic/core/host';
import { memoryLog } from '@haptic/core/testing';
import { getObject, leaseResource } from '@haptic/kube';
import kubeConnection from '@haptic/kube-connection';
import leader from '@haptic/leader';
import sourceCrd from '@haptic/source-crd';
import stateKube from '@haptic/state-kube';
import { expect, test } from 'vitest';
import { currentMinor, forEachCluster } from '../../cluster/index.ts';
import { onCleanup } from '../../haproxy/cleanup.ts';
import { until } from '../../haproxy/until.ts';
import { controllerKubeconfig } from './kubeconfig.ts';

const configMaps = { apiVersion: 'v1', resource: 'configmaps', kind: 'ConfigMap', namespaced: true };

forEachCluster(
  (cluster) => {
    /** As much of a controller as leads and remembers; its configuration is `source`'s. */
    async function startLeading(namespace: string, source: { readonly config?: string }): Promise<Term> {
      const kubeconfig = await controllerKubeconfig(cluster(), namespace, source);
      const hooks = createHooks();
      const host = await Host.start({
        hooks,
        observers: [],
        log: memoryLog(),
        plugins: [
          { plugin: kubeConnection, options: { kubeconfig, namespace } },
          { plugin: sourceCrd, options: source },
          { plugin: leader, options: {} },
          { plugin: stateKube, options: {} },
        ],
      });
      onCleanup(() => host.close());
      const timing = leader.config!.schema.parse({});
      hooks.merge.call({ owned: { leaderElection: timing } } as unknown as MergedConfig, { sources: [] });
      const terms = host.use(TERM);
      await until(() => terms.current().leader, { deadlineMs: 30_000, what: 'the process leads' });
      await host.use(STATE_STORE).write('quarantine', JSON.stringify(source));
      return terms.current();
    }

    test('installations of one namespace neither lead nor remember for each other', async () => {
      await using namespace = await cluster().namespace();
      const terms = [
        await startLeading(namespace.name, {}),
        await startLeading(namespace.name, { config: 'other' }),
      ];
      expect(terms.map(({ signal }) => signal.aborted)).toEqual([false, false]);
      const place = { namespace: namespace.name };
      for (const [config, source] of [
        ['haptic', {}],
        ['other', { config: 'other' }],
      ] as const) {
        const lease = { ...place, resource: leaseResource, name: `${config}-leader` };
        expect(await getObject(cluster().api, lease)).toBeDefined();
        const state = { ...place, resource: configMaps, name: `${config}-state` };
        expect(await getObject(cluster().api, state)).toMatchObject({
          data: { quarantine: JSON.stringify(source) },
        });
      }
    });
  },
  [currentMinor],
);

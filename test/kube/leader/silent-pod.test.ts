import { join } from 'node:path';
import { FLEET, TERM, type DeployPlan, type MergedConfig, type Outcome } from '@haptic/core/contract';
import { createHooks, Host } from '@haptic/core/host';
import { memoryLog } from '@haptic/core/testing';
import deployAgent from '@haptic/deploy-agent';
import kubeConnection from '@haptic/kube-connection';
import leader from '@haptic/leader';
import { expect, test } from 'vitest';
import { haproxyBinary } from '../../../tools/haproxy/index.ts';
import { applyOf } from '../../agent/plan.ts';
import { Pod } from '../../agent/pod.ts';
import { renderedOf } from '../../agent/rendered.ts';
import { currentMinor, forEachCluster } from '../../cluster/index.ts';
import { onCleanup } from '../../haproxy/cleanup.ts';
import { until } from '../../haproxy/until.ts';
import { controllerKubeconfig } from './kubeconfig.ts';

forEachCluster(
  (cluster) => {
    /** A controller of one pod, as far as leading and deploying goes; it stands for the Lease. */
    async function start(namespace: string, pod: Pod) {
      const kubeconfig = await controllerKubeconfig(cluster(), namespace);
      const hooks = createHooks();
      const pods = [{ name: 'pod', socketPath: pod.apiSocket, tokenFile: join(pod.dir, 'token') }];
      const host = await Host.start({
        hooks,
        observers: [],
        deadlines: { deploy: Infinity },
        log: memoryLog(),
        plugins: [
          { plugin: kubeConnection, options: { kubeconfig, namespace } },
          { plugin: leader, options: {} },
          { plugin: deployAgent, options: { mode: 'static', pods } },
        ],
      });
      onCleanup(() => host.close());
      const timing = leader.config!.schema.parse({});
      hooks.merge.call({ owned: { leaderElection: timing } } as unknown as MergedConfig, { sources: [] });
      return { hooks, terms: host.use(TERM), fleet: host.use(FLEET) };
    }

    test('an epoch that only a silent pod knows is risen above when the pod speaks again', async () => {
      await using namespace = await cluster().namespace();
      const pod = await Pod.create(await haproxyBinary('3.4'));
      await pod.startHaproxy();
      const agent = await pod.startAgent();
      const before = pod.site('before');
      expect((await pod.apply(applyOf(before, { token: { epoch: 41, seq: 9 } }))).status).toBe(200);
      agent.child.kill('SIGSTOP');

      const { hooks, terms, fleet } = await start(namespace.name, pod);
      await until(() => terms.current().leader, { deadlineMs: 30_000, what: 'the process leads' });
      const { epoch, signal } = terms.current();
      expect(epoch).toBeLessThan(41);

      agent.child.kill('SIGCONT');
      await until(() => fleet.facts().haproxyVersion, { deadlineMs: 30_000, what: 'the pod speaks' });
      const rendered = renderedOf(pod.site('after'));
      const plan: DeployPlan = {
        pod: 'pod',
        mode: 'reload',
        reasons: ['test'],
        ops: [],
        inPlaceOps: [],
        files: [],
        binds: rendered.plan.binds,
      };
      const outcomes: Outcome[] = [];
      const collector = { outcomes, add: (outcome: Outcome) => void outcomes.push(outcome) };
      const call = { signal: AbortSignal.timeout(50_000), caller: 'reconcile' } as const;
      await hooks.deploy.promise({ rendered, plans: [plan], validated: false }, collector, call);

      expect(outcomes).toMatchObject([{ pod: 'pod', result: 'reload' }]);
      expect(terms.current()).toMatchObject({ leader: true, epoch: 42 });
      expect(signal.aborted).toBe(false);
      expect(await pod.state()).toMatchObject({ applied: rendered.plan.id, token: { epoch: 42 } });
    });
  },
  [currentMinor],
);

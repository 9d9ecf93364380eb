import { FLEET, TERM, z, type Fleet, type MergedConfig, type Term, type Terms } from '@haptic/core/contract';
import { createHooks, Host } from '@haptic/core/host';
import { memoryLog } from '@haptic/core/testing';
import { getObject, leaseResource, replaceObject } from '@haptic/kube';
import kubeConnection from '@haptic/kube-connection';
import leader from '@haptic/leader';
import { describe, expect, test } from 'vitest';
import { forEachCluster } from '../../cluster/index.ts';
import { onCleanup } from '../../haproxy/cleanup.ts';
import { until } from '../../haproxy/until.ts';
import { controllerKubeconfig } from './kubeconfig.ts';

interface Process {
  readonly terms: Terms;
  /** Every term that was told of, in order. */
  readonly told: Term[];
  /** What the first configuration says, or that it is broken. */
  begin(leaderElection?: object): void;
  /** A configuration that serves from now on says this. */
  accept(leaderElection: object): void;
  reject(): void;
  stop(): Promise<void>;
}

/** Milliseconds; far above what a loaded machine makes of a request. */
const timing = { leaseDuration: '9s', renewDeadline: '6s', retryPeriod: '2s' };

forEachCluster((cluster) => {
  async function start(
    namespace: string,
    highestEpoch = 0,
    options: { readonly leaseName?: string; readonly enabled?: boolean } = {},
  ): Promise<Process> {
    const kubeconfig = await controllerKubeconfig(cluster(), namespace, {
      ...(options.leaseName !== undefined && { lease: options.leaseName }),
    });
    const hooks = createHooks();
    const told: Term[] = [];
    let terms: Terms | undefined;
    const host = await Host.start({
      hooks,
      observers: [],
      log: memoryLog(),
      plugins: [
        { plugin: kubeConnection, options: { kubeconfig, namespace } },
        { plugin: leader, options },
        {
          plugin: {
            name: 'fleet',
            apiVersion: 1,
            options: z.strictObject({}).optional(),
            setup(context) {
              const fleet = { highestEpoch: () => Promise.resolve(highestEpoch) };
              context.provide(FLEET, fleet as unknown as Fleet);
              terms = context.use(TERM);
              terms.onChange(() => void told.push(terms!.current()));
            },
          },
        },
      ],
    });
    onCleanup(() => host.close());
    const merged = (leaderElection: object): MergedConfig =>
      ({ owned: { leaderElection: leader.config!.schema.parse(leaderElection) } }) as unknown as MergedConfig;
    return {
      terms: terms!,
      told,
      begin: (leaderElection = timing) => void hooks.merge.call(merged(leaderElection), { sources: [] }),
      accept: (leaderElection) => hooks.configAccepted.call(merged(leaderElection), undefined),
      reject: () => hooks.configRejected.call(new Error('broken'), { reason: 'ConfigInvalid' }),
      stop: () => host.close(),
    };
  }

  const leads = (one: Process): Promise<unknown> =>
    until(() => one.terms.current().leader, { deadlineMs: 30_000, what: 'the process leads' });

  const lease = (namespace: string) => ({ resource: leaseResource, namespace, name: 'haptic-leader' });

  describe('leadership', () => {
    test('goes to one, and at once to the next when it is handed over', async () => {
      await using namespace = await cluster().namespace();
      const first = await start(namespace.name);
      expect(first.terms.current()).toMatchObject({ leader: false, epoch: 0 });
      first.begin();
      await leads(first);
      const second = await start(namespace.name);
      second.begin();
      const { epoch, signal } = first.terms.current();
      const begun = performance.now();
      await first.stop();
      expect(signal.aborted).toBe(true);
      await leads(second);
      const ms = performance.now() - begun;
      console.log(`planned hand-over took ${Math.round(ms)} ms`);
      // Without the watch it takes up to a retry period on top of everything; the promise is a second.
      expect(ms).toBeLessThan(3_000);
      expect(second.terms.current().epoch).toBe(epoch + 1);
      expect(first.told.map((term) => term.leader)).toEqual([true, false]);
      expect(second.told.map((term) => term.leader)).toEqual([true]);
    });

    test('begins above every epoch that a pod has seen', async () => {
      await using namespace = await cluster().namespace();
      const one = await start(namespace.name, 41);
      one.begin();
      await leads(one);
      expect(one.terms.current().epoch).toBe(42);
      expect(await one.terms.raise(50, AbortSignal.timeout(20_000))).toBe(51);
      expect(one.terms.current()).toMatchObject({ leader: true, epoch: 51 });
      const live = await getObject(cluster().api, lease(namespace.name));
      expect(live).toMatchObject({ spec: { holderIdentity: expect.any(String) } });
    });

    test('ends when somebody else has the lease, and is not taken while that one lives', async () => {
      await using namespace = await cluster().namespace();
      const one = await start(namespace.name);
      one.begin();
      await leads(one);
      const { signal } = one.terms.current();
      await until(async () => {
        const live = await getObject(cluster().api, lease(namespace.name));
        const spec = { ...(live!['spec'] as object), holderIdentity: 'thief', leaseTransitions: 99 };
        return replaceObject(cluster().api, lease(namespace.name), { ...live, spec });
      });
      await until(() => signal.aborted, { deadlineMs: 20_000 });
      expect(one.terms.current().leader).toBe(false);
      await until(() => one.told.length === 2);
    });

    test('keeps its term when an accepted configuration has another timing', async () => {
      await using namespace = await cluster().namespace();
      const one = await start(namespace.name);
      one.reject();
      await leads(one);
      const { signal, epoch } = one.terms.current();
      const promised = async (seconds: number): Promise<unknown> =>
        until(
          async () => {
            const live = await getObject(cluster().api, lease(namespace.name));
            expect(live).toMatchObject({ spec: { leaseDurationSeconds: seconds } });
            return true;
          },
          { deadlineMs: 20_000, what: `the Lease promises ${seconds} seconds` },
        );
      await promised(15);
      one.begin({ ...timing, leaseDuration: '60s' });
      one.accept(timing);
      await promised(9);
      one.accept({ ...timing, leaseDuration: '20s' });
      await promised(20);
      expect(signal.aborted).toBe(false);
      expect(one.terms.current().epoch).toBe(epoch);
      expect(one.told).toHaveLength(1);
    });

    test('goes to somebody although the configuration is broken', async () => {
      await using namespace = await cluster().namespace();
      const one = await start(namespace.name);
      one.reject();
      await leads(one);
      expect(await getObject(cluster().api, lease(namespace.name))).toBeDefined();
    });

    test('is for one Lease, whether the first configuration is broken or not', async () => {
      await using namespace = await cluster().namespace();
      const named = { leaseName: 'mine' };
      const one = await start(namespace.name, 0, named);
      one.reject();
      await leads(one);
      const other = await start(namespace.name, 0, named);
      other.begin();
      const mine = { resource: leaseResource, namespace: namespace.name, name: 'mine' };
      expect(await getObject(cluster().api, mine)).toBeDefined();
      expect(await getObject(cluster().api, lease(namespace.name))).toBeUndefined();
      await one.stop();
      await leads(other);
      expect(await getObject(cluster().api, lease(namespace.name))).toBeUndefined();
    });

    test.each([true, false])('needs no lease where it is switched off (configuration: %s)', async (good) => {
      await using namespace = await cluster().namespace();
      const one = await start(namespace.name, 0, { enabled: false });
      if (good) one.begin();
      else one.reject();
      expect(one.terms.current()).toMatchObject({ leader: true, epoch: 1 });
      expect(await one.terms.raise(7, AbortSignal.timeout(1_000))).toBe(8);
      expect(await getObject(cluster().api, lease(namespace.name))).toBeUndefined();
    });
  });
});

import type { KubeObject } from '@haptic/core/contract';
import { getObject, leaseResource, type KubeApi, type Resource } from '@haptic/kube';
import { conditionRules, declaredRules } from '@haptic/publish';
import { describe, expect, test } from 'vitest';
import { haproxyBinary } from '../../../tools/haproxy/index.ts';
import { kubePrograms } from '../../../tools/kube/index.ts';
import { currentMinor, withOwnClusters } from '../../cluster/index.ts';
import { root } from '../../e2e/haptic-process.ts';
import { until } from '../../haproxy/until.ts';
import { eventsOf } from '../publish/publishing.ts';
import { Witness } from '../publish/witness.ts';
import { controllerRules } from '../rbac/controller-rules.ts';
import { agentState } from './agent-state.ts';
import { configObject, libraryObject } from './installation.ts';
import { ingress, ingressClass, service } from './objects.ts';
import { World, type Controller, type HaproxyPod } from './world.ts';

const SLOW = 180_000;
const patience = { deadlineMs: 60_000 };

const GROUP = 'haproxy-haptic.org/v1alpha1';
const kinds = {
  ingress: { apiVersion: 'networking.k8s.io/v1', resource: 'ingresses', kind: 'Ingress', namespaced: true },
  service: { apiVersion: 'v1', resource: 'services', kind: 'Service', namespaced: true },
  configMap: { apiVersion: 'v1', resource: 'configmaps', kind: 'ConfigMap', namespaced: true },
  cfg: { apiVersion: GROUP, resource: 'haproxycfgs', kind: 'HAProxyCfg', namespaced: true },
  config: {
    apiVersion: GROUP,
    resource: 'haproxytemplateconfigs',
    kind: 'HAProxyTemplateConfig',
    namespaced: true,
  },
} satisfies Record<string, Resource>;

const ours = { ip: '192.0.2.44' };
const plugins = [
  { use: '@haptic/publish', options: { addresses: [ours] } },
  { use: `${root}/examples/plugins/no-wildcard-hosts.mjs`, options: { allow: ['*.shop.test'] } },
];

/** A ConfigMap for each setting. */
const DECLARED = `
{% for name, value in settings.published %}
---
apiVersion: v1
kind: ConfigMap
metadata: { name: {{ name }} }
data: { value: {{ value }} }
{% endfor %}
`;

/** A condition of the Service, and a word to its owner. */
const SAID = `
{% set app = resources.services.get(settings.namespace, "app") %}
{% if app %}
{% status app, [{type: "Served", status: "True", reason: "Routed", message: "it has routes"}] %}
{% do warn(app, "Lonely", "it is the only one") %}
{% endif %}
`;

interface Status {
  readonly conditions?: readonly Readonly<Record<string, unknown>>[];
  readonly loadBalancer?: { readonly ingress?: readonly object[] };
}

function statusOf(object: KubeObject | undefined): Status | undefined {
  return object?.['status'] as Status | undefined;
}

/** An installation whose config declares objects, and everything that it publishes. */
class Published {
  readonly world: World;
  readonly #api: KubeApi;
  readonly #pod: HaproxyPod;
  readonly #witnesses: Readonly<Record<'ingress' | 'service' | 'cfg' | 'config', Witness>>;

  constructor(world: World, pod: HaproxyPod) {
    this.world = world;
    this.#pod = pod;
    this.#api = world.cluster.api;
    const watched = ({ apiVersion, resource }: Resource): Witness => {
      const start = apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`;
      return Witness.of(this.#api, `${start}/namespaces/${world.namespace}/${resource}`);
    };
    this.#witnesses = {
      ingress: watched(kinds.ingress),
      service: watched(kinds.service),
      cfg: watched(kinds.cfg),
      config: watched(kinds.config),
    };
  }

  /** As an operator would, with these ConfigMaps declared, and one that is somebody else's. */
  async declare(published: Readonly<Record<string, string>>, broken = ''): Promise<void> {
    const { namespace, port } = this.world;
    const libraries = ['base', 'ingress'].map((name) => libraryObject(namespace, name));
    const settings = {
      listeners: { i80: { bind: `127.0.0.1:${port}` } },
      published: { ...published, theirs: 'ours' },
      namespace,
    };
    const content = {
      settings,
      k8sResources: { objects: { template: DECLARED } },
      templateSnippets: { 'section-words': { template: SAID + broken } },
      publish: { interval: '1s' },
      leaderElection: { leaseDuration: '6s', renewDeadline: '4s', retryPeriod: '1s' },
    };
    await this.world.apply(...libraries, configObject(namespace, libraries, content));
  }

  get(kind: keyof typeof kinds, name: string): Promise<KubeObject | undefined> {
    return getObject(this.#api, { resource: kinds[kind], namespace: this.world.namespace, name });
  }

  async epoch(): Promise<number> {
    const { namespace } = this.world;
    const lease = await getObject(this.#api, { resource: leaseResource, namespace, name: 'haptic-leader' });
    return Number(lease?.metadata.annotations?.['haproxy-haptic.org/epoch']);
  }

  /** What is declared and nothing else but what is somebody else's, and all the rest that is published of it. */
  async untilIs(published: Readonly<Record<string, string>>, controller: Controller): Promise<void> {
    const isSo = async (): Promise<boolean> => {
      const path = `/api/v1/namespaces/${this.world.namespace}/configmaps`;
      const { items } = (await this.#api.json({ path })) as { readonly items: readonly KubeObject[] };
      const found = items
        .filter(({ metadata }) => metadata.name !== 'haptic-state' && metadata.name !== 'kube-root-ca.crt')
        .map(({ metadata, data }) => [metadata.name, (data as { readonly value: string }).value]);
      expect(Object.fromEntries(found)).toEqual({ ...published, theirs: 'theirs' });
      expect(statusOf(await this.get('ingress', 'app'))).toEqual({ loadBalancer: { ingress: [ours] } });
      expect(statusOf(await this.get('service', 'app'))?.conditions).toMatchObject([
        { type: 'Served', status: 'True', reason: 'Routed', message: 'it has routes' },
      ]);
      const cfg = await this.get('cfg', 'haptic');
      const { running } = await agentState(this.#pod);
      expect(cfg).toMatchObject({
        spec: { planId: running },
        status: { pods: [{ name: 'haproxy-0', running }], conditions: [{ status: 'True' }] },
      });
      return true;
    };
    await until(isSo, { ...patience, what: 'everything is published' }).catch((error: Error) => {
      throw new Error(`${error.message}\n${controller.stdout()}`, { cause: error });
    });
  }

  /** The condition of the config, once it is about what it says now. */
  async untilJudged(status: 'True' | 'False'): Promise<Readonly<Record<string, unknown>>> {
    return await until(
      async () => {
        const config = (await this.get('config', 'haptic'))!;
        const condition = statusOf(config)?.conditions?.find(({ type }) => type === 'Validated');
        return (
          condition?.['observedGeneration'] === config.metadata.generation &&
          condition?.['status'] === status &&
          condition
        );
      },
      { ...patience, what: `the config is judged ${status}` },
    );
  }

  /** As `kubectl get events` shows them. */
  async notes(): Promise<readonly string[]> {
    const events = await eventsOf(this.#api, this.world.namespace);
    return events
      .map(({ type, reason, note, regarding }) => `${type} ${reason} ${regarding.name}: ${note}`)
      .toSorted();
  }

  /** Of what had a status once, in no version that there ever was. */
  expectNeverEmpty(): void {
    const { ingress: ingresses, service: services, cfg, config } = this.#witnesses;
    const seen: readonly (readonly (string | undefined)[])[] = [
      ingresses.versionsOf('app').map((object) => JSON.stringify(statusOf(object)?.loadBalancer?.ingress)),
      ...[services.versionsOf('app'), cfg.versionsOf('haptic'), config.versionsOf('haptic')].map((versions) =>
        versions.map((object) => JSON.stringify(statusOf(object)?.conditions)),
      ),
    ];
    for (const words of seen) {
      const first = words.findIndex((word) => word !== undefined);
      expect(first).toBeGreaterThanOrEqual(0);
      expect(words.slice(first).filter((word) => word === undefined || word === '[]')).toEqual([]);
    }
  }
}

withOwnClusters((start) => {
  describe('what a controller publishes', () => {
    test('is there together, and goes on when it is killed', { timeout: SLOW }, async () => {
      const { access } = await start({ controllers: false });
      const { name: namespace } = await access.namespace();
      const { kubectl } = await kubePrograms(currentMinor);
      const haproxy = await haproxyBinary('3.4');
      const world = await World.open(access, kubectl, namespace);
      await world.install({}, 'all');
      await world.apply(ingressClass, service('app'), ingress('app', 'app.test', 'app'));
      await world.apply(ingress('bad', '*.bad.test', 'app'));
      await world.kubectlRun(['create', 'configmap', 'theirs', '--from-literal=value=theirs']);
      const pod = await world.startPod('haproxy-0', haproxy);
      const published = new Published(world, pod);
      const rules = controllerRules();
      const own = [...declaredRules('', 'configmaps'), ...conditionRules('', 'services')];
      const kubeconfig = await world.controllerKubeconfig({
        ...rules,
        namespace: [...rules.namespace, ...own],
      });
      const run = (): Promise<Controller> => world.startController([pod], { haproxy, kubeconfig, plugins });

      await published.declare({ kept: '1', early: '1' });
      const first = await run();
      await published.untilIs({ kept: '1', early: '1' }, first);
      await published.untilJudged('True');
      await published.declare({ kept: '2', doomed: '1' });
      await published.untilIs({ kept: '2', doomed: '1' }, first);

      await published.declare({ kept: '3' }, '{% if %}');
      expect(await published.untilJudged('False')).toMatchObject({
        reason: 'ConfigInvalid',
        message: expect.stringMatching(/^section-words:7:1: expected {% endif %}/) as string,
      });
      await published.untilIs({ kept: '2', doomed: '1' }, first);
      await published.declare({ kept: '2', doomed: '1' });
      await published.untilJudged('True');
      await until(
        async () => (await published.notes()).some((note) => note.includes('generation 5 serves')),
        {
          ...patience,
          what: 'the last Event',
        },
      );
      const told = await published.notes();
      expect(told).toEqual(
        expect.arrayContaining([
          'Normal ValidationSucceeded haptic: generation 5 serves',
          expect.stringMatching(
            /^Warning ConfigInvalid haptic: generation 4 does not serve: .*section-words/,
          ),
          expect.stringMatching(
            /^Warning Quarantined bad: refused, .*the host \*\.bad\.test is not allowed$/,
          ),
          'Warning Lonely app: it is the only one',
          expect.stringMatching(
            /^Warning ResourceConflict haptic: configmaps .*\/theirs: there is one that is not ours.* kubectl-create$/,
          ),
        ]),
      );
      const [epoch, kept, cfg] = [
        await published.epoch(),
        await published.get('configMap', 'kept'),
        await published.get('cfg', 'haptic'),
      ];

      process.kill(first.pid, 'SIGKILL');
      await first.ended;
      // Nobody sees it happen: who comes knows only from the state that there is something to be deleted.
      await published.declare({ kept: '2', fresh: '1' });
      const second = await run();
      await published.untilIs({ kept: '2', fresh: '1' }, second);
      expect(await published.epoch()).toBeGreaterThan(epoch);
      expect(await published.get('configMap', 'kept')).toEqual(kept);
      expect((await published.get('cfg', 'haptic'))?.metadata.uid).toBe(cfg?.metadata.uid);
      await published.untilJudged('True');
      await until(
        async () => (await published.notes()).some((note) => note.includes('generation 6 serves')),
        {
          ...patience,
          what: 'the Event of the successor',
        },
      );
      process.kill(second.pid, 'SIGTERM');
      expect(await second.ended).toBe(0);

      published.expectNeverEmpty();
      const after = 'Normal ValidationSucceeded haptic: generation 6 serves';
      expect(await published.notes()).toEqual([...told, after].toSorted());
      const said = [first, second].map((one) => one.stdout()).join('');
      expect(said).not.toContain('forbidden');
    });
  });
}, currentMinor);

import { Refused, type ConfigVersion, type KubeObject } from '@haptic/core/contract';
import { createObject, getObject, mergeObject, type Resource } from '@haptic/kube';
import { conditionRules, declaredRules, serviceRules } from '@haptic/publish';
import { expect } from 'vitest';
import { base, profiles, section } from '../../../core/src/testing/render-output.ts';
import { ChaosProxy, type TestCluster } from '../../cluster/index.ts';
import { onCleanup } from '../../haproxy/cleanup.ts';
import { until } from '../../haproxy/until.ts';
import { sharedDefinitions } from '../definitions.ts';
import {
  configKey,
  createConfig,
  declared,
  eventsOf,
  OWN_CLASS,
  startPublishing,
  type Publishing,
} from './publishing.ts';
import { SentRequests } from './sent-requests.ts';
import { Witness } from './witness.ts';
import { configMaps, haproxyCfgs, ingresses, services } from '../kinds.ts';

/** For what takes a second on a quiet machine, and up to a minute of waiting after many failures. */
const PATIENCE_MS = 180_000;
const theirs = { hostname: 'lb.somebody.test' };
const theirCondition = {
  type: 'Theirs',
  status: 'True',
  reason: 'x',
  message: '',
  lastTransitionTime: '2030-01-01T00:00:00Z',
};

/** Entries of an Ingress's status. */
function addressesOf(object: KubeObject | undefined): readonly object[] {
  const { status } = (object ?? {}) as { status?: { loadBalancer?: { ingress?: object[] } } };
  return status?.loadBalancer?.ingress ?? [];
}

/** Alternately an acceptance and a rejection. */
function reasonOf(round: number): 'ValidationSucceeded' | 'ConfigInvalid' {
  return round % 2 === 0 ? 'ValidationSucceeded' : 'ConfigInvalid';
}

/** A controller's way to the API server, and all that it writes. */
export interface Way {
  readonly proxy: ChaosProxy;
  readonly sent: SentRequests;
  readonly publishing: Publishing;
}

/**
 * Everything that is published goes through a proxy that a test breaks, and somebody watches. What is desired is something else in
 * each round.
 */
export class Disturbed {
  readonly cluster: TestCluster;
  readonly namespace: string;
  way: Way;
  readonly #config: ConfigVersion;
  readonly #own: KubeObject[];
  readonly #owner: KubeObject;
  /** Objects of others as they were. */
  readonly #foreign: readonly KubeObject[];
  readonly #ingresses: Witness;
  readonly #configMaps: Witness;
  #plan = '';
  round = 0;

  private constructor(
    parts: Pick<Disturbed, 'cluster' | 'namespace' | 'way'> & {
      readonly config: ConfigVersion;
      readonly own: KubeObject[];
      readonly owner: KubeObject;
      readonly foreign: readonly KubeObject[];
    },
  ) {
    this.cluster = parts.cluster;
    this.namespace = parts.namespace;
    this.way = parts.way;
    this.#config = parts.config;
    this.#own = parts.own;
    this.#owner = parts.owner;
    this.#foreign = parts.foreign;
    const { api } = parts.cluster.access;
    this.#ingresses = Witness.of(api, `/apis/networking.k8s.io/v1/namespaces/${this.namespace}/ingresses`);
    this.#configMaps = Witness.of(api, `/api/v1/namespaces/${this.namespace}/configmaps`);
  }

  static async open(cluster: TestCluster): Promise<Disturbed> {
    const { access } = cluster;
    const { api } = access;
    await sharedDefinitions(api);
    const { name: namespace } = await access.namespace();
    const say = (resource: Resource, name: string, status: object): Promise<KubeObject> =>
      mergeObject(
        api,
        { resource, namespace, name },
        { status },
        { fieldManager: 'somebody', subresource: 'status' },
      );
    const spec = { ports: [{ port: 80 }] };
    await createObject(api, services, { metadata: { namespace, name: 'owner' }, spec });
    await createObject(api, services, {
      metadata: { namespace, name: 'balancer' },
      spec: { ...spec, type: 'LoadBalancer' },
    });
    await createIngress(cluster, namespace, 'steady');
    await createIngress(cluster, namespace, 'foreign', 'nginx');
    await createIngress(cluster, namespace, 'shared');
    const labels = { 'haproxy-haptic.org/managed-by': 'somebody.haptic' };
    const status = { loadBalancer: { ingress: [theirs] } };
    return new Disturbed({
      cluster,
      namespace,
      config: await createConfig(api, namespace),
      owner: await say(services, 'owner', { conditions: [theirCondition] }),
      own: [
        (await getObject(api, { resource: ingresses, namespace, name: 'steady' }))!,
        await say(ingresses, 'shared', status),
      ],
      foreign: [
        await say(ingresses, 'foreign', status),
        await createObject(api, configMaps, { metadata: { namespace, name: 'plain' }, data: { a: '1' } }),
        await createObject(api, configMaps, { metadata: { namespace, name: 'another', labels } }),
      ],
      way: await openWay(cluster, namespace),
    });
  }

  /** Nobody hears of anything until the proxy lets connections pass again. */
  isolate(): void {
    this.way.proxy.refuse(true);
    this.way.proxy.cut();
  }

  /** What others write before a round. */
  async prepare(): Promise<void> {
    this.round += 1;
    const { cluster, namespace, round } = this;
    this.#own.push(await createIngress(cluster, namespace, `site-${round}`));
    await mergeObject(
      cluster.access.api,
      { resource: services, namespace, name: 'balancer' },
      { status: { loadBalancer: { ingress: [this.#address] } } },
      { fieldManager: 'cloud', subresource: 'status' },
    );
  }

  /** What the core tells of a round. */
  tell({ publishing } = this.way): void {
    const { round } = this;
    const version = { ...this.#config, generation: round };
    const reason = reasonOf(round);
    if (reason === 'ValidationSucceeded') publishing.accept(version);
    else publishing.hooks.configRejected.call(new Refused(`round ${round}`), { reason, version });
    const status = { object: refOf(this.#owner), conditions: [this.#condition] };
    const { plan } = publishing.release(
      {
        pieces: [base, profiles, section(`round-${round}`, `frontend round-${round} from base\n`)],
        k8sResources: declared(configMap('kept', round), configMap(`only-${round}`, round)),
        statuses: [status],
        events: [{ object: refOf(this.#own.at(-1)!), reason: 'Round', message: `round ${round}` }],
      },
      this.#own,
    );
    this.#plan = plan.id;
    publishing.pods = [{ name: 'haproxy-0', ops: [], applied: plan.id }];
    publishing.hooks.applied.call(plan, [], { durationMs: 1, changes: [], sinceChangeMs: 1 });
  }

  /** Everything is as it was told, once, and nothing else. */
  async untilAsTold(): Promise<void> {
    await until(() => this.#expectAsTold().then(() => true), {
      deadlineMs: PATIENCE_MS,
      what: `round ${this.round} is published`,
    });
    this.#expectNeverEmpty();
  }

  /** Another controller leads, and the one before it is heard of no more. */
  async succeed(): Promise<void> {
    const before = this.way;
    this.way = await openWay(this.cluster, this.namespace);
    before.publishing.end();
    await before.publishing.stop();
  }

  /** The Events of all rounds, where one controller has led all the time. */
  expectedNotes(): readonly string[] {
    return Array.from({ length: this.round }, (_, index) => index + 1).flatMap((round) => [
      `Round: round ${round}`,
      reasonOf(round) === 'ValidationSucceeded'
        ? `ValidationSucceeded: generation ${round} serves`
        : `ConfigInvalid: generation ${round} does not serve: round ${round}`,
    ]);
  }

  /** The notes of all Events, but of what a server that has just started forbids for a moment: that is told rightly. */
  async notes(): Promise<readonly string[]> {
    const events = (await eventsOf(this.cluster.access.api, this.namespace)).filter(
      ({ reason, note }) => !(reason === 'ResourceNotWritten' && note.includes(' 403 ')),
    );
    return events.map(({ reason, note, ...event }) => {
      expect(event, note).not.toHaveProperty('series');
      return `${reason}: ${note}`;
    });
  }

  async #expectAsTold(): Promise<void> {
    const { round, namespace } = this;
    const get = (resource: Resource, name: string): Promise<KubeObject | undefined> =>
      getObject(this.cluster.access.api, { resource, namespace, name });
    for (const { metadata } of this.#own) {
      const isShared = metadata.name === 'shared';
      const wanted = isShared ? [theirs, this.#address] : [this.#address];
      expect(addressesOf(await get(ingresses, metadata.name)), metadata.name).toEqual(wanted);
    }
    expect(await get(services, 'owner')).toMatchObject({
      status: {
        conditions: [theirCondition, { ...this.#condition, lastTransitionTime: expect.any(String) }],
      },
    });
    expect(await getObject(this.cluster.access.api, configKey(namespace))).toMatchObject({
      status: { observedGeneration: round, conditions: [{ reason: reasonOf(round) }] },
    });
    expect(await get(haproxyCfgs, 'haptic')).toMatchObject({
      spec: { planId: this.#plan },
      status: { conditions: [{ status: 'True' }] },
    });
    const maps = (await this.cluster.access.api.json({
      path: `/api/v1/namespaces/${namespace}/configmaps`,
    })) as { readonly items: readonly (KubeObject & { readonly data?: Record<string, string> })[] };
    const found = maps.items.map(({ metadata }) => metadata.name).toSorted();
    expect(found).toEqual(['another', 'haptic-state', 'kept', `only-${round}`, 'plain']);
    expect(await get(configMaps, 'kept')).toMatchObject({ data: { round: `${round}` } });
    this.#expectState(maps.items.find(({ metadata }) => metadata.name === 'haptic-state')?.data ?? {});
    for (const object of this.#foreign) {
      const resource = object.kind === 'Ingress' ? ingresses : configMaps;
      expect(await get(resource, object.metadata.name)).toEqual(object);
    }
    expect(await this.notes()).toEqual(
      expect.arrayContaining([`Round: round ${round}`, expect.stringMatching(`generation ${round} `)]),
    );
  }

  /** Whoever leads next knows of everything; also of what may come back as long as something may be late. */
  #expectState(state: Readonly<Record<string, string>>): void {
    const [resources, addresses, conditions] = [
      'declared-resources',
      'published-addresses',
      'published-conditions',
    ].map((name) => JSON.parse(state[name] ?? 'null') as { readonly objects: unknown });
    const declaredNames = ['kept', `only-${this.round}`].map((name) => expect.objectContaining({ name }));
    expect(resources).toMatchObject({ objects: expect.arrayContaining(declaredNames) });
    const names = this.#own.map(({ metadata }) => metadata.name);
    expect(addresses).toMatchObject({
      objects: { 'networking.k8s.io/v1 ingresses': { [this.namespace]: expect.arrayContaining(names) } },
    });
    expect(conditions).toMatchObject({ objects: [{ name: 'owner', types: ['Served'] }] });
  }

  /** In no version that there ever was; and nothing came back that had been replaced. */
  #expectNeverEmpty(): void {
    for (const { metadata } of this.#own) {
      const seen = this.#ingresses.versionsOf(metadata.name).map(addressesOf);
      const words = seen.map((entries) => JSON.stringify(entries));
      const distinct = words.filter((word, index) => word !== words[index - 1]);
      expect(new Set(distinct).size, `${metadata.name}: ${distinct.join(' ')}`).toBe(distinct.length);
      if (metadata.name !== 'shared') continue;
      for (const entries of seen.filter(({ length }) => length > 0)) expect(entries[0]).toEqual(theirs);
    }
    const rounds = this.#configMaps.versionsOf('kept').map((object) => JSON.stringify(object['data']));
    expect(new Set(rounds).size, rounds.join(' ')).toBe(rounds.length);
  }

  get #address(): object {
    return { ip: this.round % 2 === 0 ? `192.0.2.${this.round}` : `2001:db8::${this.round}` };
  }

  get #condition() {
    const { round } = this;
    return {
      type: 'Served',
      status: round % 2 === 0 ? 'True' : 'False',
      reason: `Round${round}`,
      message: '',
    } as const;
  }
}

/** A controller with a proxy of its own; it leads. */
export async function openWay(cluster: TestCluster, namespace: string): Promise<Way> {
  const proxy = await ChaosProxy.start(cluster.apiServerPort);
  onCleanup(() => proxy.stop());
  const through = await cluster.access.via(`https://127.0.0.1:${proxy.port}`);
  onCleanup(() => through.close());
  const publishing = await startPublishing({
    cluster: through,
    namespace,
    options: { service: `${namespace}/balancer` },
    rules: [
      ...declaredRules('', 'configmaps'),
      ...conditionRules('', 'services'),
      ...serviceRules('balancer'),
    ],
  });
  publishing.begin();
  return { proxy, sent: SentRequests.to(proxy.port), publishing };
}

function createIngress(
  { access: { api } }: TestCluster,
  namespace: string,
  name: string,
  ingressClassName = OWN_CLASS,
): Promise<KubeObject> {
  const spec = { ingressClassName, defaultBackend: { service: { name: 'a', port: { number: 80 } } } };
  return createObject(api, ingresses, { metadata: { namespace, name }, spec });
}

function configMap(name: string, round: number): object {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { round: `${round}` } };
}

function refOf({ apiVersion, kind, metadata: { namespace = '', name, uid = '' } }: KubeObject) {
  return { apiVersion, kind, namespace, name, uid };
}

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  CONTROLLER,
  FLEET,
  TEMPLATE_NAMES,
  TERM,
  z,
  type ConfigVersion,
  type ControllerAccess,
  type Fleet,
  type KubeObject,
  type MergedConfig,
  type Pod,
  type QuarantinedObject,
  type Rendered,
  type RenderInput,
  type Term,
} from '@haptic/core/contract';
import { controllerRules, createHooks, Host, offer } from '@haptic/core/host';
import { memoryLog } from '@haptic/core/testing';
import ingress from '@haptic/ingress';
import { createObject, getObject, type AccessRule, type KubeApi } from '@haptic/kube';
import kubeConnection from '@haptic/kube-connection';
import publish, { addressRules, namespaceRules, watchedRules } from '@haptic/publish';
import routing from '@haptic/routing';
import stateKube, { accessRules } from '@haptic/state-kube';
import { sha256 } from '../../../core/src/controller/index.ts';
import { assemble, PlanMemo } from '../../../core/src/plan/index.ts';
import { Store } from '../../../core/src/store/index.ts';
import { createNames } from '../../../core/src/templates/names/registry.ts';
import type { RenderOutput } from '../../../core/src/templates/output.ts';
import { provenanceOf, renderOutput } from '../../../core/src/testing/render-output.ts';
import type { ClusterAccess } from '../../cluster/index.ts';
import { onCleanup } from '../../haproxy/cleanup.ts';
import { tempDir } from '../../haproxy/temp-dir.ts';
import { configs } from '../definitions.ts';
import { SkippingClock } from './skipping-clock.ts';

export interface PublishingOptions {
  readonly cluster: ClusterAccess;
  readonly namespace: string;
  /** Of the plugin. */
  readonly options?: object;
  /** Besides those that the plugins say they need. */
  readonly rules?: readonly AccessRule[];
  /** In namespaces besides its own. */
  readonly elsewhere?: Readonly<Record<string, readonly AccessRule[]>>;
  /** `publish` of the config. */
  readonly settings?: object;
  /** Of the watch of Ingresses. */
  readonly ignoreFields?: readonly string[];
}

export interface Publishing {
  readonly log: ReturnType<typeof memoryLog>;
  readonly hooks: ReturnType<typeof createHooks>;
  readonly config: MergedConfig;
  readonly clock: SkippingClock;
  pods: Pod[];
  quarantine: QuarantinedObject[];
  begin(): void;
  end(): void;
  accept(version: ConfigVersion): void;
  /** As the core would: with these Ingresses in its store. */
  release(
    output: Partial<RenderOutput>,
    ingresses?: readonly KubeObject[],
    maps?: MergedConfig['maps'],
  ): Rendered;
  stop(): Promise<void>;
}

const watch = {
  apiVersions: ['networking.k8s.io/v1'],
  optional: false,
  indexBy: [],
  namespaces: [],
  ignoreFields: [],
  admission: false,
  debounce: 0,
};
const watchesWith = (ignoreFields: readonly string[]) => ({
  ingresses: { ...watch, resources: 'ingresses', ignoreFields },
  ingressclasses: { ...watch, resources: 'ingressclasses' },
  services: { ...watch, apiVersions: ['v1'], resources: 'services' },
});

/** Known to these tests alone: controllers of others that run in the same cluster must not take their Ingresses for theirs. */
export const OWN_CLASS = 'publishing';

const ownClass: KubeObject = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'IngressClass',
  metadata: { name: OWN_CLASS },
  spec: { controller: 'haproxy-haptic.org/ingress-controller' },
};

/** The plugins in a host of their own, told what the core would tell; with no more rights than they say they need. */
export async function startPublishing(given: PublishingOptions): Promise<Publishing> {
  const { cluster, namespace, options = {}, rules = [], settings = { interval: '1s' } } = given;
  const watchedResources = watchesWith(given.ignoreFields ?? []);
  const file = join(await tempDir(), 'kubeconfig');
  const own = [
    ...namespaceRules('haptic'),
    ...watchedRules,
    ...addressRules,
    ...accessRules('haptic-state'),
    ...rules,
  ];
  await writeFile(file, await cluster.user({ namespaces: { ...given.elsewhere, [namespace]: own } }));
  const log = memoryLog();
  const hooks = createHooks();
  const store = new Store(watchedResources);
  store.replace('ingressclasses', [ownClass]);
  store.replace('services', []);
  const listeners = new Set<() => void>();
  let term = new AbortController();
  let leader = false;
  const parsed = publish.config!.schema.parse(settings);
  const config = { owned: { publish: parsed }, watchedResources } as unknown as MergedConfig;
  const clock = new SkippingClock();
  const publishing: Publishing = {
    log,
    clock,
    hooks,
    config,
    pods: [],
    quarantine: [],
    begin() {
      term = new AbortController();
      leader = true;
      for (const listener of listeners) listener();
    },
    end() {
      leader = false;
      term.abort();
      for (const listener of listeners) listener();
    },
    accept: (version) => hooks.configAccepted.call(config, version),
    release(output, ingresses = [], maps = {}) {
      store.replace('ingresses', ingresses);
      const rendered = assemble(renderOutput(output), { maps }, new PlanMemo(sha256));
      hooks.released.call(rendered, { findings: [], config, epoch: 1 });
      return rendered;
    },
    stop: () => host.close(),
  };
  const controller = {
    status: () => ({
      phase: 'serving',
      input: { view: store.view() } as RenderInput,
      quarantine: publishing.quarantine,
    }),
  } as unknown as ControllerAccess;
  const host = await Host.start({
    ...controllerRules,
    check: () => undefined,
    hooks,
    log,
    clock,
    services: [offer(CONTROLLER, controller), offer(TEMPLATE_NAMES, createNames(sha256))],
    plugins: [
      { plugin: kubeConnection, options: { kubeconfig: file, namespace } },
      {
        plugin: {
          name: 'core',
          apiVersion: 1,
          options: z.strictObject({}).optional(),
          setup(context) {
            context.provide(FLEET, {
              pods: () => publishing.pods,
              onChange: () => () => undefined,
            } as unknown as Fleet);
            context.provide(TERM, {
              current: (): Term => ({ leader, epoch: 1, signal: term.signal }),
              onChange(listener) {
                listeners.add(listener);
                return () => void listeners.delete(listener);
              },
              raise: () => Promise.reject(new Error('nobody asks')),
            });
          },
        },
      },
      { plugin: stateKube, options: {} },
      { plugin: publish, options },
      { plugin: routing, options: {} },
      { plugin: ingress, options: {} },
    ],
  });
  onCleanup(() => host.close());
  return publishing;
}

/** As a template would declare them. */
export function declared(...objects: readonly object[]): RenderOutput['k8sResources'] {
  const text = objects.map((object) => JSON.stringify(object)).join('\n---\n');
  return [{ name: 'all', text, provenance: provenanceOf('all') }];
}

export const configKey = (namespace: string) => ({ resource: configs, namespace, name: 'haptic' });

/** A config in the cluster, as the source would tell of it. */
export async function createConfig(api: KubeApi, namespace: string): Promise<ConfigVersion> {
  const spec = {
    haproxyConfig: { template: 'x' },
    watchedResources: { ingresses: { apiVersion: 'networking.k8s.io/v1', resources: 'ingresses' } },
  };
  const created = await createObject(api, configs, { metadata: { namespace, name: 'haptic' }, spec });
  const { uid = '', generation = 0 } = created.metadata;
  return { namespace, name: 'haptic', uid, generation };
}

export interface SeenEvent {
  readonly type: string;
  readonly reason: string;
  readonly note: string;
  readonly reportingController: string;
  readonly regarding: { readonly kind: string; readonly name: string };
}

/** Ours alone: an API server that is started again tells of what it repairs. */
export async function eventsOf(api: KubeApi, namespace: string): Promise<readonly SeenEvent[]> {
  const path = `/apis/events.k8s.io/v1/namespaces/${namespace}/events`;
  const { items } = (await api.json({ path })) as { readonly items: readonly SeenEvent[] };
  return items.filter(({ reportingController }) => reportingController === 'haproxy-haptic.org/controller');
}

export async function versionOf(
  api: KubeApi,
  key: Parameters<typeof getObject>[1],
): Promise<string | undefined> {
  return (await getObject(api, key))?.metadata.resourceVersion;
}

import {
  definePlugin,
  FLEET,
  OPERATION_NAMES,
  RESOURCE_SOURCE,
  z,
  type Deployment,
  type KubeObject,
  type Pod,
  type QuarantineChange,
  type StoreSink,
} from '@haptic/core/contract';
import { createController, type Controller } from '@haptic/core/controller';
import { memoryLog, type MemoryLog } from '@haptic/core/testing';
import validatorHaproxy from '@haptic/validator-haproxy';
import { onCleanup } from '../haproxy/cleanup.ts';

/** A backend for every Ingress, named like it; port 1 is refused. */
const TEMPLATE = `{% section "global" %}
global
    default-path config
{% endsection %}
{% section "base" %}
defaults base
    mode http
    timeout connect 2s
    timeout client 10s
    timeout server 10s
{% endsection %}
{% profiles %}
{% section "http" %}
frontend http from base
    bind 127.0.0.1:65000
    use_backend %[req.hdr(host)]
{% endsection %}
{% include "more" %}
{% for ingress in resources.ingresses.list() %}
{% memo ingress %}
{% backend {name: ingress.metadata.name, from: "base", servers: ingress.spec.servers, objects: [ingress]} %}
    balance roundrobin
    {% if ingress.spec.servers[0].port === 1 %}{% do fail("port 1 is for nobody") %}{% endif %}
{% endbackend %}
{% endmemo %}
{% endfor %}
`;

export function ingress(
  name: string,
  {
    namespace = 'shop',
    port = 8080,
    keywords = [],
  }: { readonly namespace?: string; readonly port?: number; readonly keywords?: readonly string[] } = {},
): KubeObject {
  const server = { name: 's', address: '127.0.0.1', port, state: 'ready', keywords, guid: `srv:${name}:s` };
  const metadata = { namespace, name, uid: name };
  return { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', metadata, spec: { servers: [server] } };
}

/** Pods that take everything at once, and report so. */
export interface TakingFleet {
  readonly pods: readonly Pod[];
  readonly deployments: readonly Deployment[];
  /** Plans that were taken back, in order. */
  readonly reverts: readonly string[];
  /** Called with each deployment, when the pods have it. */
  onDeployment: (deployment: Deployment) => void;
}

export interface StartedController {
  readonly controller: Controller;
  readonly fleet: TakingFleet;
  readonly log: MemoryLog;
  readonly quarantined: readonly (QuarantineChange & { readonly at: number })[];
  readonly put: (...objects: readonly KubeObject[]) => void;
}

export interface StartOptions {
  /** Of `validator-haproxy`. */
  readonly judge: { readonly binary: string; readonly timeout?: number };
  readonly objects: readonly KubeObject[];
  /** Stands in front of the backends. */
  readonly more?: string;
  /** By name. */
  readonly files?: Readonly<Record<string, string>>;
}

/** A controller whose objects come from a test and whose plans go nowhere, but whose judge is HAProxy. It stops at the end of the test. */
export async function startController({
  judge,
  objects,
  more = '',
  files = {},
}: StartOptions): Promise<StartedController> {
  let sink: StoreSink | undefined;
  const spec = {
    haproxyConfig: { template: TEMPLATE },
    templateSnippets: { more: { template: more } },
    files: Object.fromEntries(Object.entries(files).map(([name, template]) => [name, { template }])),
    watchedResources: { ingresses: { apiVersion: 'networking.k8s.io/v1', resources: 'ingresses' } },
  };
  const source = definePlugin({
    name: 'source',
    apiVersion: 1,
    options: z.strictObject({}),
    setup({ name, hooks, provide }) {
      hooks.load.tapPromise(name, async (set) => set.provide([{ kind: 'config', name: 'main', spec }]));
      provide(RESOURCE_SOURCE, {
        async watch(_watches, into) {
          sink = into;
          into.replace('ingresses', objects);
        },
      });
    },
  });
  const fleet = takingFleet();
  const quarantined: StartedController['quarantined'][number][] = [];
  const observer = definePlugin({
    name: 'observer',
    apiVersion: 1,
    options: z.strictObject({}),
    setup({ name, hooks }) {
      hooks.quarantined.tap(name, (change) => void quarantined.push({ ...change, at: performance.now() }));
    },
  });
  const log = memoryLog();
  const controller = await createController({
    plugins: [
      { plugin: source },
      { plugin: validatorHaproxy, options: judge },
      { plugin: fleet.plugin },
      { plugin: observer },
    ],
    log,
  });
  const stop = new AbortController();
  const running = controller.run(stop.signal);
  onCleanup(async () => {
    stop.abort();
    await running;
    await controller.close();
  });
  return {
    controller,
    fleet: fleet.fleet,
    log,
    quarantined,
    put: (...upserts) => sink!.apply('ingresses', { upserts, deletes: [] }),
  };
}

function takingFleet() {
  const deployments: Deployment[] = [];
  const reverts: string[] = [];
  const listeners = new Set<() => void>();
  let pods: readonly Pod[] = [{ name: 'pod', ops: OPERATION_NAMES }];
  const fleet: TakingFleet = {
    get pods() {
      return pods;
    },
    deployments,
    reverts,
    onDeployment() {},
  };
  const take = ({ rendered: { plan }, plans }: Deployment): void => {
    pods = pods.map((pod) => {
      const mode = plans.find(({ pod: name }) => name === pod.name)?.mode;
      if (mode === undefined) return pod;
      return { ...pod, baseline: plan, applied: plan.id, ...(mode === 'reload' && { loaded: plan.id }) };
    });
    listeners.forEach((listener) => listener());
  };
  const plugin = definePlugin({
    name: 'fleet',
    apiVersion: 1,
    options: z.strictObject({}),
    setup({ name, hooks, provide }) {
      provide(FLEET, {
        pods: () => pods,
        facts: () => ({ paths: { base: '/etc/haproxy', workerSocket: '/run/worker.sock' } }),
        onChange(listener) {
          listeners.add(listener);
          return () => listeners.delete(listener);
        },
        highestEpoch: async () => 0,
        async revert(plan) {
          reverts.push(plan);
          return [];
        },
      });
      hooks.deploy.tapPromise(name, async (deployment, outcomes) => {
        deployments.push(deployment);
        for (const { pod, mode, reasons } of deployment.plans) {
          outcomes.add({ pod, result: mode, reasons, durationMs: 0 });
        }
        take(deployment);
        fleet.onDeployment(deployment);
      });
    },
  });
  return { fleet, plugin };
}

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  definePlugin,
  RESOURCE_SOURCE,
  z,
  type ControllerStatus,
  type KubeObject,
  type Outcome,
  type StoreSink,
} from '@haptic/core/contract';
import { createController, type ControllerOptions } from '@haptic/core/controller';
import { memoryLog, type MemoryLog } from '@haptic/core/testing';
import deployAgent from '@haptic/deploy-agent';
import validatorHaproxy from '@haptic/validator-haproxy';
import type { Pod } from '../agent/pod.ts';
import { onCleanup } from '../haproxy/cleanup.ts';
import { seenBy } from '../haproxy/origin.ts';
import { request } from '../haproxy/raw-request.ts';
import { tempDir } from '../haproxy/temp-dir.ts';
import { script } from './start-judge.ts';

/** Ports and sockets are each pod's own; a check needs any. */
const TEMPLATE = `{% section "global" %}
global
    default-path config
    stats socket "\${SITE_WORKER-/run/unused.sock}" mode 600 level admin
    hard-stop-after 5s
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
    bind 127.0.0.1:"\${SITE_PORT-65000}"
{% for ingress in resources.ingresses.list() %}
{% if ingress.spec.note === "fail" %}{% do fail("a note that nobody can read") %}{% endif %}
{% if ingress.spec.note === "refuse" %}    a-word-that-nobody-knows
{% endif %}
{% if ingress.spec.note %}    http-response set-header x-note {{ ingress.spec.note }}
{% endif %}
{% endfor %}
    use_backend %[req.hdr(host),field(1,:)]
{% endsection %}
{% for ingress in resources.ingresses.list() %}
{% backend {name: ingress.metadata.name, from: "base", servers: ingress.spec.servers, objects: [ingress]} %}
    balance roundrobin
{% endbackend %}
{% endfor %}
`;

interface IngressOptions {
  /** Of its server. */
  readonly keywords?: readonly string[];
  /** A header of every answer, whose place in the files names no object; HAProxy takes no `refuse`, the template no `fail`. */
  readonly note?: string;
}

/** One whose name is also the host that it serves. */
export function ingress(
  name: string,
  port: number,
  { keywords = [], note }: IngressOptions = {},
): KubeObject {
  const server = { name: 's', address: '127.0.0.1', port, state: 'ready', keywords, guid: `srv:${name}:s` };
  const metadata = { namespace: 'shop', name, uid: name };
  const spec = { servers: [server], ...(note !== undefined && { note }) };
  return { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', metadata, spec };
}

export interface Gate {
  /** In HAProxy's place: once it is closed, each check waits until it is let. */
  readonly binary: string;
  close(): Promise<void>;
  letOne(): Promise<void>;
}

export async function gatedHaproxy(binary: string): Promise<Gate> {
  const dir = await tempDir();
  const [token, closed] = [join(dir, 'token'), join(dir, 'closed')];
  const wait = `while ! rm ${token} 2>/dev/null; do sleep 0.02; done`;
  return {
    binary: await script(`[ "$1" = -c ] && [ -e ${closed} ] && { ${wait}; }\nexec ${binary} "$@"`),
    close: () => writeFile(closed, ''),
    letOne: () => writeFile(token, ''),
  };
}

/** What became of a plan on one pod. */
export interface Told extends Outcome {
  readonly planId: string;
}

export interface Leading {
  readonly log: MemoryLog;
  /** In order, of every deployment that is over. */
  readonly told: readonly Told[];
  put(...objects: readonly KubeObject[]): void;
  status(): ControllerStatus;
}

export interface LeadingOptions {
  /** HAProxy, or what stands in its place. */
  readonly judge: string;
  readonly objects: readonly KubeObject[];
  /** Of `deploy-agent`. */
  readonly deploy: object;
  /** Who finds the pods. */
  readonly plugins?: ControllerOptions['plugins'];
  /** Of the configuration. */
  readonly spec?: object;
}

/** A controller whose objects come from a test, and whose plans go to real agents. It stops at the end of the test. */
export async function startLeading({
  judge,
  objects,
  deploy,
  plugins = [],
  spec = {},
}: LeadingOptions): Promise<Leading> {
  let sink: StoreSink | undefined;
  const told: Told[] = [];
  const source = definePlugin({
    name: 'source',
    apiVersion: 1,
    options: z.strictObject({}),
    setup({ name, hooks, provide }) {
      const watchedResources = { ingresses: { apiVersion: 'networking.k8s.io/v1', resources: 'ingresses' } };
      const whole = { haproxyConfig: { template: TEMPLATE }, watchedResources, ...spec };
      hooks.load.tapPromise(name, async (set) =>
        set.provide([{ kind: 'config', name: 'main', spec: whole }]),
      );
      hooks.applied.tap(name, ({ id: planId }, outcomes) => {
        told.push(...outcomes.map((outcome) => ({ ...outcome, planId })));
      });
      provide(RESOURCE_SOURCE, {
        async watch(_watches, into) {
          sink = into;
          into.replace('ingresses', objects);
        },
      });
    },
  });
  const log = memoryLog();
  const controller = await createController({
    plugins: [
      { plugin: source },
      // A test may keep it waiting for as long as it needs.
      { plugin: validatorHaproxy, options: { binary: judge, timeout: 300_000 } },
      ...plugins,
      { plugin: deployAgent, options: deploy },
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
    log,
    told,
    put: (...upserts) => sink!.apply('ingresses', { upserts, deletes: [] }),
    status: () => controller.status(),
  };
}

/** The name of the origin that answers a request of the pod, or the status where it is no success. */
export async function answerOf({ port }: Pod, host: string): Promise<string> {
  const response = await request(port, { host });
  return response.status === 200 ? seenBy(response).origin : String(response.status);
}

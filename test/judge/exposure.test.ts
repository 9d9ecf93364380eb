import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  definePlugin,
  RESOURCE_SOURCE,
  z,
  type KubeObject,
  type ControllerStatus,
  type RenderPlan,
  type StoreSink,
} from '@haptic/core/contract';
import { createController } from '@haptic/core/controller';
import { memoryLog } from '@haptic/core/testing';
import deployAgent from '@haptic/deploy-agent';
import validatorHaproxy from '@haptic/validator-haproxy';
import { expect, test } from 'vitest';
import { haproxyBinary } from '../../tools/haproxy/index.ts';
import { fleetPod } from '../agent/fleet.ts';
import type { Pod } from '../agent/pod.ts';
import { onCleanup } from '../haproxy/cleanup.ts';
import { origin, seenBy } from '../haproxy/origin.ts';
import { request } from '../haproxy/raw-request.ts';
import { tempDir } from '../haproxy/temp-dir.ts';
import { until } from '../haproxy/until.ts';
import { forEachVersion } from '../haproxy/versions.ts';
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
    use_backend %[req.hdr(host),field(1,:)]
{% endsection %}
{% for ingress in resources.ingresses.list() %}
{% backend {name: ingress.metadata.name, from: "base", servers: ingress.spec.servers, objects: [ingress]} %}
    balance roundrobin
{% endbackend %}
{% endfor %}
`;

const SPEC = {
  haproxyConfig: { template: TEMPLATE },
  watchedResources: { ingresses: { apiVersion: 'networking.k8s.io/v1', resources: 'ingresses' } },
};

const LONG = { deadlineMs: 30_000 };

/** One whose name is also the host that it serves. */
function ingress(name: string, port: number, keywords: readonly string[] = []): KubeObject {
  const server = { name: 's', address: '127.0.0.1', port, state: 'ready', keywords, guid: `srv:${name}:s` };
  const metadata = { namespace: 'shop', name, uid: name };
  return { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', metadata, spec: { servers: [server] } };
}

interface Gate {
  /** In HAProxy's place: a check begins when it is let. */
  readonly binary: string;
  letOne(): Promise<void>;
}

async function gatedHaproxy(binary: string): Promise<Gate> {
  const token = join(await tempDir(), 'token');
  const wait = `while ! rm ${token} 2>/dev/null; do sleep 0.02; done`;
  return {
    binary: await script(`[ "$1" = -c ] && ${wait}\nexec ${binary} "$@"`),
    letOne: () => writeFile(token, ''),
  };
}

interface Running {
  put(object: KubeObject): void;
  status(): ControllerStatus;
}

async function start(gate: Gate, pods: readonly Pod[], first: KubeObject): Promise<Running> {
  let sink: StoreSink | undefined;
  const source = definePlugin({
    name: 'source',
    apiVersion: 1,
    options: z.strictObject({}),
    setup({ name, hooks, provide }) {
      hooks.load.tapPromise(name, async (set) => set.provide([{ kind: 'config', name: 'main', spec: SPEC }]));
      provide(RESOURCE_SOURCE, {
        async watch(_watches, into) {
          sink = into;
          into.replace('ingresses', [first]);
        },
      });
    },
  });
  const agents = pods.map((pod, index) => ({
    name: `pod-${index}`,
    socketPath: pod.apiSocket,
    tokenFile: join(pod.dir, 'token'),
  }));
  const log = memoryLog();
  const controller = await createController({
    plugins: [
      { plugin: source },
      { plugin: validatorHaproxy, options: { binary: gate.binary, timeout: 60_000 } },
      { plugin: deployAgent, options: { mode: 'static', pods: agents, waves: { soak: 0 } } },
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
    put: (object) => sink!.apply('ingresses', { upserts: [object], deletes: [] }),
    status: () => controller.status(),
  };
}

async function answerOf({ port }: Pod, host: string): Promise<string> {
  const response = await request(port, { host });
  return response.status === 200 ? seenBy(response).origin : String(response.status);
}

async function runs(pod: Pod, { id }: Pick<RenderPlan, 'id'>): Promise<void> {
  await until(async () => (await pod.state('plan=0')).applied === id, LONG);
}

forEachVersion(
  ({ binary }) => {
    test(
      'a refused plan goes from pods that never loaded it, and the next waits',
      { timeout: 240_000 },
      async () => {
        const app = await origin('app');
        const pods = (await Promise.all([0, 1].map(() => fleetPod(binary)))).map(({ pod }) => pod);
        const [neverLoaded, hasLoaded] = [pods[0]!, pods[1]!];
        // The one that judges is older than those that serve: it does not know what they have applied.
        const gate = await gatedHaproxy(await haproxyBinary('3.0'));
        const run = await start(gate, pods, ingress('good', app.port));
        await gate.letOne();
        await until(() => run.status().plan !== undefined, LONG);
        const accepted = run.status().plan!;
        for (const pod of pods) await runs(pod, accepted);

        run.put(ingress('bad', app.port, ['init-state', 'up']));
        await until(() => run.status().dispatched !== accepted.id, LONG);
        const bad = { id: run.status().dispatched! };
        for (const pod of pods) await runs(pod, bad);
        expect(run.status()).toMatchObject({
          gate: { state: 'open', pending: [bad.id] },
          plan: { id: accepted.id },
        });
        expect(await answerOf(neverLoaded, 'bad')).toBe('app');
        // It starts again, on the files that are in place.
        process.kill((await hasLoaded.state()).master!.pid, 'SIGTERM');
        await until(async () => (await hasLoaded.state('plan=0')).running === bad.id, LONG);

        await gate.letOne();
        await runs(neverLoaded, accepted);
        expect(run.status()).toMatchObject({
          gate: { state: 'latched', reason: 'refused' },
          dispatched: accepted.id,
          problem: { message: expect.stringMatching(/init-state[^]*Ingress shop\/bad/) },
        });
        expect(await answerOf(neverLoaded, 'good')).toBe('app');
        await until(async () => (await answerOf(neverLoaded, 'bad')) === '503', LONG);
        run.put(ingress('next', app.port));
        expect((await hasLoaded.state('plan=0')).applied).toBe(bad.id);
        expect(await answerOf(hasLoaded, 'bad')).toBe('app');
        expect(await answerOf(neverLoaded, 'next')).toBe('503');

        // One for the render without the culprit, one for what came meanwhile.
        await gate.letOne();
        await until(() => run.status().gate?.state === 'open', LONG);
        expect(run.status().quarantine).toMatchObject([
          { object: { kind: 'Ingress', name: 'bad' }, reason: expect.stringContaining('init-state') },
        ]);
        for (const pod of pods) await until(async () => (await answerOf(pod, 'next')) === 'app', LONG);
        for (const pod of pods) expect(await answerOf(pod, 'bad')).toBe('503');
        await gate.letOne();
        await until(() => run.status().gate?.pending.length === 0, LONG);
      },
    );
  },
  ['3.4'],
);

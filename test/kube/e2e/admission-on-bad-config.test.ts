import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { haproxyBinary } from '../../../tools/haproxy/index.ts';
import { forEachCluster } from '../../cluster/index.ts';
import { root } from '../../e2e/haptic-process.ts';
import { traffic } from '../../haproxy/traffic.ts';
import { until } from '../../haproxy/until.ts';
import { judgedWatch, WebhookPlace } from '../admission/webhook.ts';
import { configObject, libraryObject } from './installation.ts';
import { ingress, ingressClass, service, slice } from './objects.ts';
import { startOrigins, whyNoOrigins } from './origins.ts';
import { World, type Controller, type HaproxyPod } from './world.ts';

const noOrigins = await whyNoOrigins();
const SLOW = 360_000;
const patience = { deadlineMs: 90_000 };

/** An operator's own judge: who is denied is told by it. */
const judge = {
  use: join(root, 'examples/plugins/no-wildcard-hosts.mjs'),
  // Of the tests of the libraries.
  options: { allow: ['*.shop.test'] },
};

interface Refused {
  readonly what: string;
  /** What the status says. */
  readonly reason: string;
  readonly words: RegExp;
  /** Of the config that names the libraries, which are written with it. */
  readonly config?: object;
  readonly snippets?: object;
}

const refused: readonly Refused[] = [
  {
    what: 'a config that does not compile',
    reason: 'ConfigInvalid',
    words: /own.*if/s,
    config: { templateSnippets: { own: { template: '{% if %}' } } },
  },
  {
    what: 'a library that HAProxy refuses',
    reason: 'LoadGateFailed',
    words: /no-such-keyword/,
    snippets: { 'global-own': { template: 'no-such-keyword on\n' } },
  },
];

/** The objects of an installation, with what is wrong in them or without. */
function objects(world: World, { config = {}, snippets = {} }: Partial<Refused> = {}): readonly object[] {
  const { spec } = libraryObject(world.namespace, 'base');
  const { templateSnippets } = spec as { readonly templateSnippets: object };
  const base = libraryObject(world.namespace, 'base', {
    templateSnippets: { ...templateSnippets, ...snippets },
  });
  const libraries = [base, libraryObject(world.namespace, 'ingress')];
  const settings = { listeners: { i80: { bind: `127.0.0.1:${world.port}` } } };
  return [...libraries, configObject(world.namespace, libraries, { settings, ...config })];
}

interface ConfigObject {
  readonly metadata: { readonly generation: number };
  readonly status?: {
    readonly conditions: readonly {
      readonly type: string;
      readonly observedGeneration: number;
      readonly reason: string;
    }[];
    readonly errors?: readonly string[];
  };
}

/** What kubectl shows of the newest version of the config. */
async function untilSays(world: World, reason: string): Promise<string> {
  return until(
    async () => {
      const text = await world.kubectlRun(['get', 'htplcfg', 'haptic', '-o', 'json']);
      const { metadata, status } = JSON.parse(text) as ConfigObject;
      const said = status?.conditions.find(({ type }) => type === 'Validated');
      if (said?.reason !== reason || said.observedGeneration !== metadata.generation) {
        throw new Error(`generation ${metadata.generation}, the status is ${JSON.stringify(status)}`);
      }
      return JSON.stringify(status);
    },
    { ...patience, what: `the status says ${reason}` },
  );
}

/** `admitted`, or what kubectl says instead. Nothing is left behind. */
async function answer(world: World, host: string): Promise<string> {
  const object = ingress('proposed', host, 'app');
  const flags = ['create', '--dry-run=server', '-f', '-'];
  return world.kubectlRun(flags, JSON.stringify(object)).then(
    () => 'admitted',
    (error: Error & { readonly stderr?: string }) => error.stderr ?? error.message,
  );
}

/** Empty where the controller is ready, admits what is right and denies what is wrong. */
async function wrongWith(world: World, controller: Controller): Promise<readonly string[]> {
  const [{ status, body }, good, bad] = await Promise.all([
    controller.health('/readyz'),
    answer(world, 'good.test'),
    answer(world, '*.bad.test'),
  ]);
  return [
    ...(status === 200 ? [] : [`/readyz ${status}: ${body}`]),
    ...(good === 'admitted' ? [] : [`not admitted: ${good}`]),
    ...(bad.includes('the host *.bad.test is not allowed') ? [] : [`not denied: ${bad}`]),
  ];
}

/** Looks again and again while something happens, and once more afterwards. */
async function steadyWhile(world: World, controller: Controller, work: () => Promise<void>): Promise<void> {
  const wrong: string[] = [];
  let isOver = false;
  const looking = (async () => {
    for (let isLast = false; !isLast;) {
      isLast = isOver;
      wrong.push(...(await wrongWith(world, controller)));
    }
  })();
  try {
    await work();
  } finally {
    isOver = true;
    await looking;
  }
  expect(wrong).toEqual([]);
}

/** Every request is answered all the while. */
async function served<T>(pod: HaproxyPod, work: () => Promise<T>): Promise<T> {
  const clients = traffic({ port: pod.port, host: 'app.test', clients: 2, pauseMs: 5 });
  const done = await work();
  const { failures, requests } = await clients.stop();
  expect(failures).toEqual([]);
  expect(requests).toBeGreaterThan(10);
  return done;
}

forEachCluster(
  (cluster, programs) => {
    describe.skipIf(noOrigins !== undefined)(
      `the webhook${noOrigins === undefined ? '' : ` (${noOrigins})`}`,
      () => {
        test.each(refused)('goes on with $what', { timeout: SLOW }, async ({ reason, words, ...content }) => {
          await using namespace = await cluster().namespace();
          const haproxy = await haproxyBinary('3.4');
          const world = await World.open(cluster(), programs.kubectl, namespace.name);
          const { addresses, port } = await startOrigins(1);
          const [address = ''] = addresses;
          await world.install();
          await world.apply(
            ingressClass,
            ingress('app', 'app.test', 'app'),
            service('app'),
            slice('app', [address], port),
          );
          const pod = await world.startPod('haproxy-0', haproxy);
          const webhook = await WebhookPlace.open(world.at.dir);
          const options = { host: '127.0.0.1', port: webhook.port, tls: webhook.tls };
          const plugins = [judge, { use: '@haptic/admission', enabled: true, options }];
          const first = await world.startController([pod], { haproxy, plugins });
          await world.untilAnswers(pod, 'app.test', address, first);
          await webhook.register(cluster(), `haptic-${namespace.name}`, {
            ingresses: judgedWatch({ namespaces: [namespace.name] }),
          });
          // API servers take a moment to follow a new webhook.
          await until(async () => (await wrongWith(world, first)).length === 0, patience);

          // It comes while the former one serves.
          await served(pod, () =>
            steadyWhile(world, first, async () => {
              await world.apply(...objects(world, content));
              expect(await untilSays(world, reason)).toMatch(words);
            }),
          );
          await world.apply(ingress('second', 'second.test', 'app'));
          await world.untilAnswers(pod, 'second.test', address, first);

          // It is all that there is when the controller starts: the pods serve, and nothing is admitted that nobody can judge.
          const again = await served(pod, async () => {
            process.kill(first.pid, 'SIGTERM');
            expect(await first.ended).toBe(0);
            const controller = await world.startController([pod], { haproxy, plugins });
            await controller.untilLogged('a configuration was rejected');
            expect((await controller.health('/livez')).status).toBe(200);
            expect((await controller.health('/readyz')).status).toBe(503);
            expect(await answer(world, 'good.test')).toContain('no configuration serves yet');
            return controller;
          });
          expect(await world.answer(pod, 'second.test')).toBe(address);

          // It is mended, and nobody starts anew.
          await served(pod, async () => {
            await world.apply(...objects(world));
            await untilSays(world, 'ValidationSucceeded');
            await until(async () => (await wrongWith(world, again)).length === 0, patience);
          });
          await world.apply(ingress('third', 'third.test', 'app'));
          await world.untilAnswers(pod, 'third.test', address, again);
        });
      },
    );
  },
  ['1.37'],
);

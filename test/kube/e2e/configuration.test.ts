import { describe, expect, test } from 'vitest';
import { haproxyBinary } from '../../../tools/haproxy/index.ts';
import { forEachCluster } from '../../cluster/index.ts';
import { until } from '../../haproxy/until.ts';
import { configObject, libraryObject } from './installation.ts';
import { ingress, ingressClass, service, slice } from './objects.ts';
import { startOrigins, whyNoOrigins } from './origins.ts';
import { World, type Controller, type HaproxyPod } from './world.ts';

const noOrigins = await whyNoOrigins();
const SLOW = 240_000;

interface Installed {
  readonly world: World;
  readonly haproxy: string;
  readonly pod: HaproxyPod;
  readonly address: string;
}

forEachCluster(
  (cluster, programs) => {
    /** An installation that has one route, without a controller yet. */
    async function installed(namespace: string): Promise<Installed> {
      const haproxy = await haproxyBinary('3.4');
      const world = await World.open(cluster(), programs.kubectl, namespace);
      const { addresses, port } = await startOrigins(1);
      const [address = ''] = addresses;
      await world.install();
      await world.apply(
        ingressClass,
        ingress('app', 'app.test', 'app'),
        service('app'),
        slice('app', [address], port),
      );
      return { world, haproxy, pod: await world.startPod('haproxy-0', haproxy), address };
    }

    const rejections = (controller: Controller): readonly string[] =>
      controller
        .log()
        .filter(({ msg }) => msg === 'a configuration was rejected')
        .map(({ err }) => (err as { readonly message: string }).message);

    const accepted = (controller: Controller): number =>
      controller.log().filter(({ msg }) => msg === 'accepted a configuration').length;

    describe.skipIf(noOrigins !== undefined)(
      `a configuration${noOrigins === undefined ? '' : ` (${noOrigins})`}`,
      () => {
        test.each([
          ['the one that is needed first', [0, 1, 2]],
          ['the one that needs it first', [1, 0, 2]],
          ['the config first', [2, 1, 0]],
        ])(
          'of several objects is taken once it is whole, written with %s',
          { timeout: SLOW },
          async (_, order) => {
            await using namespace = await cluster().namespace();
            const { world, haproxy, pod, address } = await installed(namespace.name);
            const controller = await world.startController([pod], { haproxy });
            await world.untilAnswers(pod, 'app.test', address, controller);

            const base = libraryObject(world.namespace, 'base', { templateSnippets: undefined });
            const { spec } = libraryObject(world.namespace, 'base');
            const { templateSnippets } = spec as { templateSnippets?: object };
            const more = libraryObject(world.namespace, 'base', {
              templateSnippets: {
                ...templateSnippets,
                greeting: { template: '# greetings from another library\n' },
              },
            });
            const routes = libraryObject(world.namespace, 'ingress', {
              templateSnippets: { 'uses-it': { template: '{% include "greeting" %}' } },
            });
            expect(base.metadata.name).toBe(more.metadata.name);
            const settings = { listeners: { i80: { bind: `127.0.0.1:${world.port}` } }, changed: true };
            const change = [more, routes, configObject(world.namespace, [more, routes], { settings })];
            const before = accepted(controller);
            for (const index of order) await world.apply(change[index]!);
            await until(() => accepted(controller) > before, { deadlineMs: 60_000 });
            expect(rejections(controller).filter((text) => !/revision|missing/.test(text))).toEqual([]);
            await world.untilAnswers(pod, 'app.test', address, controller);
          },
        );

        test(
          'that is invalid takes nobody out, and is mended without a restart',
          { timeout: SLOW },
          async () => {
            await using namespace = await cluster().namespace();
            const { world, haproxy, pod, address } = await installed(namespace.name);
            const first = await world.startController([pod], { haproxy });
            await world.untilAnswers(pod, 'app.test', address, first);
            expect((await first.health('/readyz')).status).toBe(200);

            const snippet = (template: string): Promise<string> =>
              world.kubectlRun([
                'patch',
                'htplcfg',
                'haptic',
                '--type=merge',
                '-p',
                JSON.stringify({ spec: { templateSnippets: { own: { template } } } }),
              ]);
            await snippet('{% if %}');
            await first.untilLogged('a configuration was rejected');
            expect(await first.health('/readyz')).toMatchObject({
              status: 200,
              body: expect.stringContaining('own') as string,
            });
            expect(await world.answer(pod, 'app.test')).toBe(address);

            // Both replicas start anew on it: nothing is deployed, the fleet serves, and nobody loops.
            process.kill(first.pid, 'SIGTERM');
            expect(await first.ended).toBe(0);
            const replicas = [
              await world.startController([pod], { haproxy }),
              await world.startController([pod], { haproxy }),
            ];
            for (const replica of replicas) {
              await replica.untilLogged('a configuration was rejected');
              expect((await replica.health('/readyz')).status).toBe(503);
              expect((await replica.health('/livez')).status).toBe(200);
            }
            expect(await world.answer(pod, 'app.test')).toBe(address);

            await snippet('# mended');
            for (const replica of replicas) {
              await until(async () => (await replica.health('/readyz')).status === 200, {
                deadlineMs: 60_000,
              });
            }
            await world.apply(ingress('second', 'second.test', 'app'));
            await world.untilAnswers(pod, 'second.test', address, replicas[0]);
          },
        );
      },
    );
  },
  ['1.37'],
);

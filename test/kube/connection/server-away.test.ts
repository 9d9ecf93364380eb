import { describe, expect, test } from 'vitest';
import { haproxyBinary } from '../../../tools/haproxy/index.ts';
import { kubePrograms } from '../../../tools/kube/index.ts';
import { currentMinor, withOwnClusters } from '../../cluster/index.ts';
import { until } from '../../haproxy/until.ts';
import { World, type Controller } from '../e2e/world.ts';

const SLOW = 240_000;

withOwnClusters((start) => {
  describe('a controller that starts while the API server is away', () => {
    test(
      'lives, says what it waits for, and serves when the server is there',
      { timeout: SLOW },
      async () => {
        const cluster = await start({ controllers: false });
        await using namespace = await cluster.access.namespace();
        const { kubectl } = await kubePrograms(currentMinor);
        const world = await World.open(cluster.access, kubectl, namespace.name);
        await world.install({}, 'all');
        const kubeconfig = await world.controllerKubeconfig();
        const haproxy = await haproxyBinary('3.4');
        await cluster.apiServer.kill();

        const stopped = await waiting(world, { haproxy, kubeconfig });
        process.kill(stopped.pid, 'SIGTERM');
        expect(await stopped.ended).toBe(0);

        const controller = await waiting(world, { haproxy, kubeconfig });
        await cluster.startApiServer();
        await until(async () => (await controller.health('/readyz')).status === 200, {
          deadlineMs: 60_000,
          what: 'the controller serves',
        });
        const { checks } = JSON.parse((await controller.health('/readyz')).body) as { checks: object[] };
        expect(checks.filter((check) => 'plugin' in check && check.plugin === 'kube-connection')).toEqual([]);
        process.kill(controller.pid, 'SIGTERM');
        expect(await controller.ended).toBe(0);
      },
    );
  });
});

/** A controller that has tried in vain more than once. */
async function waiting(
  world: World,
  options: { readonly haproxy: string; readonly kubeconfig: string },
): Promise<Controller> {
  const controller = await world.startController([], { ...options, args: ['--log-level=debug'] });
  await controller.untilLogged(/^nothing begins before the API server says/);
  await controller.untilLogged('answers probes');
  await controller.untilLogged('discovery failed and is tried again');
  const told = controller.log().filter(({ msg }) => msg.startsWith('nothing begins'));
  expect(told, 'lines of what is tried all the while').toHaveLength(1);
  expect(await controller.health('/livez')).toMatchObject({ status: 200 });
  const { status, body } = await controller.health('/readyz');
  expect(status).toBe(503);
  expect(JSON.parse(body)).toMatchObject({
    phase: 'waiting',
    checks: [
      { plugin: 'kube-connection', name: 'api server', problem: expect.stringMatching(/GET \/apis?:/) },
    ],
  });
  return controller;
}

import { describe, expect, test } from 'vitest';
import { haproxyBinary } from '../../../tools/haproxy/index.ts';
import { forEachCluster } from '../../cluster/index.ts';
import { ingress, ingressClass, service, slice } from './objects.ts';
import { startOrigins, whyNoOrigins } from './origins.ts';
import { World } from './world.ts';

const noOrigins = await whyNoOrigins();

const SLOW = 180_000;

forEachCluster(
  (cluster, programs) => {
    describe.skipIf(noOrigins !== undefined)(
      `an installation${noOrigins === undefined ? '' : ` (${noOrigins})`}`,
      () => {
        test('serves what kubectl applies, and follows', { timeout: SLOW }, async () => {
          await using namespace = await cluster().namespace();
          const haproxy = await haproxyBinary('3.4');
          const world = await World.open(cluster(), programs.kubectl, namespace.name);
          const { addresses, port } = await startOrigins(2);
          const [first = '', second = ''] = addresses;
          await world.install({}, 'all');
          const pod = await world.startPod('haproxy-0', haproxy);
          const controller = await world.startController([pod], { haproxy });
          // All namespaces are watched, so hosts are those of nobody else.
          const [app, renamed] = ['app', 'renamed'].map((name) => `${name}.${namespace.name}`) as [
            string,
            string,
          ];
          const untilAnswers = (host: string, wanted: string | number): Promise<void> =>
            world.untilAnswers(pod, host, wanted, controller);

          await world.apply(
            ingressClass,
            ingress('app', app, 'app'),
            service('app'),
            slice('app', [first], port),
          );
          await untilAnswers(app, first);
          await untilAnswers(`other.${namespace.name}`, 404);

          await world.apply(slice('app', [second], port));
          await untilAnswers(app, second);
          await world.apply(ingress('app', renamed, 'app'));
          await untilAnswers(renamed, second);
          await untilAnswers(app, 404);
          await world.kubectlRun(['delete', 'ingress', 'app']);
          await untilAnswers(renamed, 404);

          const errors = controller.log().filter(({ level }) => level === 'error');
          expect(errors).toEqual([]);
          process.kill(controller.pid, 'SIGTERM');
          expect(await controller.ended).toBe(0);
        });
      },
    );
  },
  ['1.37'],
);

import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { haproxyBinary } from '../../../tools/haproxy/index.ts';
import { forEachCluster } from '../../cluster/index.ts';
import { until } from '../../haproxy/until.ts';
import { script } from '../../judge/start-judge.ts';
import { ingress, ingressClass, service, slice } from '../e2e/objects.ts';
import { whyNoOrigins as whyNoNetworks } from '../e2e/origins.ts';
import { PodWorld } from './pod-world.ts';

const noNetworks = await whyNoNetworks();

const SLOW = 300_000;
const DEADLINE = { deadlineMs: 60_000 };

forEachCluster(
  (cluster, programs) => {
    describe.skipIf(noNetworks !== undefined)(`pods while nothing is accepted ${noNetworks ?? ''}`, () => {
      test('come, leave, and have the last accepted plan', { timeout: SLOW }, async () => {
        await using namespace = await cluster().namespace();
        const haproxy = await haproxyBinary('3.4');
        const pods = await PodWorld.open(cluster(), programs, namespace.name);
        const { world } = pods;
        const machines = await Promise.all([0, 1, 2, 3].map(() => pods.startMachine(haproxy)));
        const [first, second, third, fourth] = machines;
        await world.apply(
          ingressClass,
          service('app'),
          slice('app', ['198.18.0.1'], 80),
          ingress('app', 'one.test', 'app'),
        );
        await pods.createPod('first', first!);
        await pods.createPod('second', second!);
        // Every check is refused as long as this is there.
        const refusing = join(world.at.dir, 'refusing');
        const words = '[ALERT] (1) : config : parsing [haproxy.cfg:1] : nobody likes this';
        const judge = await script(
          `[ "$1" = -c ] && [ -e ${refusing} ] && { echo '${words}' >&2; exit 1; }\nexec ${haproxy} "$@"`,
        );
        const controller = await pods.startController(judge);
        const accepted = await pods.agreed([first!, second!], [], controller);

        // It goes out by operations, and is taken back; meanwhile a pod leaves and its agent dies.
        await writeFile(refusing, '');
        await world.apply(ingress('more', 'two.test', 'app'));
        await until(() => controller.log().some(({ takenBack }) => takenBack === true), DEADLINE);
        await pods.deletePod('second');
        await second!.restartAgent();
        await pods.run(accepted, [first!], controller);

        // A new one, and the one that left.
        await pods.createPod('third', third!);
        await pods.run(accepted, [first!, third!], controller);
        expect(await third!.servers()).toEqual(await first!.servers());
        await pods.createPod('second', second!);
        await pods.run(accepted, [first!, second!, third!], controller);

        // A configuration that is refused as well, and another pod.
        const listenAt = async (bind: string): Promise<void> => {
          const patch = { spec: { settings: { listeners: { i81: { bind } } } } };
          await world.kubectlRun(['patch', 'htplcfg', 'haptic', '--type=merge', '-p', JSON.stringify(patch)]);
        };
        await listenAt('nonsense');
        await controller.untilLogged('a configuration was rejected');
        await pods.createPod('fourth', fourth!);
        await pods.run(accepted, machines, controller);

        await rm(refusing);
        await listenAt('0.0.0.0:8081');
        await world.apply(ingress('next', 'three.test', 'app'));
        await pods.agreed(machines, [accepted], controller);
      });
    });
  },
  ['1.37'],
);

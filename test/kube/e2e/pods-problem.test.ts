import { expect, test } from 'vitest';
import { haproxyBinary } from '../../../tools/haproxy/index.ts';
import { CONTROLLER, MountedSecret, tlsContents } from '../../agent/tls-secret.ts';
import { CertificateAuthority } from '../../cluster/certificates.ts';
import { forEachCluster } from '../../cluster/index.ts';
import { freePort } from '../../haproxy/free-port.ts';
import { until } from '../../haproxy/until.ts';
import { controllerRules } from '../rbac/controller-rules.ts';
import { World, type Controller } from './world.ts';

const SLOW = 180_000;
const authority = await CertificateAuthority.create('agents');

/** What `/readyz` says of the pods, once it matches; undefined: nothing. */
async function untilSaid(controller: Controller, wanted: string | undefined): Promise<void> {
  await until(
    async () => {
      const { body } = await controller.health('/readyz');
      const { checks } = JSON.parse(body) as { checks: { plugin: string; problem: string }[] };
      const said = checks.find(({ plugin }) => plugin === 'pod-discovery')?.problem;
      if (wanted === undefined ? said !== undefined : said?.includes(wanted) !== true)
        throw new Error(`it says ${body}`);
      return true;
    },
    { deadlineMs: 60_000, what: `the pods: ${wanted}` },
  );
}

forEachCluster(
  (cluster, programs) => {
    test('whoever asks hears why nothing is deployed to anybody', { timeout: SLOW }, async () => {
      await using namespace = await cluster().namespace();
      const world = await World.open(cluster(), programs.kubectl, namespace.name);
      await world.install();
      const labels = { app: 'haproxy' };
      const spec = { podSelector: { matchLabels: labels }, agent: { port: await freePort() } };
      await world.kubectlRun(['patch', 'htplcfg', 'haptic', '--type=merge', '-p', JSON.stringify({ spec })]);
      const haproxy = await haproxyBinary('3.4');
      const { files: tls } = await MountedSecret.create(await tlsContents(authority, CONTROLLER));
      const deployAgent = { mode: 'discover', tls };

      const rules = controllerRules();
      const blind = rules.namespace.filter(({ resources }) => !resources.includes('pods'));
      const kubeconfig = await world.controllerKubeconfig({ ...rules, namespace: blind });
      const refused = await world.startController([], { haproxy, kubeconfig, deployAgent });
      await refused.untilLogged('answers probes');
      await untilSaid(refused, 'cannot list resource "pods"');
      process.kill(refused.pid, 'SIGTERM');
      await refused.ended;

      const controller = await world.startController([], { haproxy, deployAgent });
      await controller.untilLogged('answers probes');
      await untilSaid(controller, 'no pod with app=haproxy has an address');
      await world.apply({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'haproxy-0', labels },
        spec: { automountServiceAccountToken: false, containers: [{ name: 'haproxy', image: 'none' }] },
      });
      const status = JSON.stringify({ status: { phase: 'Running', podIP: '127.0.0.1' } });
      const flags = ['--subresource=status', '--type=merge', '-p', status];
      await world.kubectlRun(['patch', 'pod', 'haproxy-0', ...flags]);
      await untilSaid(controller, undefined);
      expect((await controller.health('/livez')).status).toBe(200);
    });
  },
  ['1.37'],
);

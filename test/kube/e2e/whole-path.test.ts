import { describe, expect, test } from 'vitest';
import { haproxyBinary } from '../../../tools/haproxy/index.ts';
import { forEachCluster } from '../../cluster/index.ts';
import { request } from '../../haproxy/raw-request.ts';
import { until } from '../../haproxy/until.ts';
import { startOrigins, whyNoOrigins } from './origins.ts';
import { World } from './world.ts';

const noOrigins = await whyNoOrigins();

const SLOW = 180_000;

function ingress(name: string, host: string, service: string): object {
  const backend = { service: { name: service, port: { number: 80 } } };
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: { name },
    spec: {
      ingressClassName: 'haptic',
      rules: [{ host, http: { paths: [{ path: '/', pathType: 'Prefix', backend }] } }],
    },
  };
}

function service(name: string): object {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name },
    spec: { ports: [{ port: 80, targetPort: 8080 }] },
  };
}

function slice(service: string, addresses: readonly string[], port: number): object {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: `${service}-1`, labels: { 'kubernetes.io/service-name': service } },
    addressType: 'IPv4',
    ports: [{ name: '', port, protocol: 'TCP' }],
    endpoints: addresses.map((address) => ({ addresses: [address], conditions: { ready: true } })),
  };
}

const ingressClass = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'IngressClass',
  metadata: { name: 'haptic' },
  spec: { controller: 'haproxy-haptic.org/ingress-controller' },
};

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
          await world.install();
          const pod = await world.startPod('haproxy-0', haproxy);
          const controller = await world.startController([pod], { haproxy });
          const answers = async (host: string): Promise<string | number> => {
            const response = await request(pod.port, { host, path: '/' });
            return response.status === 200 ? response.body.toString() : response.status;
          };
          const untilAnswers = (host: string, wanted: string | number): Promise<unknown> =>
            until(
              async () => {
                expect(await answers(host)).toBe(wanted);
                return true;
              },
              { deadlineMs: 60_000, what: `${host} answers ${wanted}` },
            ).catch((error: Error) => {
              throw new Error(`${error.message}\n${controller.stdout()}\n${controller.stderr()}`, {
                cause: error,
              });
            });

          await world.apply(
            ingressClass,
            ingress('app', 'app.test', 'app'),
            service('app'),
            slice('app', [first], port),
          );
          await untilAnswers('app.test', first);
          await untilAnswers('other.test', 404);

          await world.apply(slice('app', [second], port));
          await untilAnswers('app.test', second);
          await world.apply(ingress('app', 'renamed.test', 'app'));
          await untilAnswers('renamed.test', second);
          await untilAnswers('app.test', 404);
          await world.kubectlRun(['delete', 'ingress', 'app']);
          await untilAnswers('renamed.test', 404);

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

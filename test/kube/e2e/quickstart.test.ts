import { readdirSync, readFileSync } from 'node:fs';
import { describe, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { haproxyBinary } from '../../../tools/haproxy/index.ts';
import { forEachCluster } from '../../cluster/index.ts';
import { request } from '../../haproxy/raw-request.ts';
import { until } from '../../haproxy/until.ts';
import { ingressClass, slice } from './objects.ts';
import { startOrigins, whyNoOrigins } from './origins.ts';
import { World } from './world.ts';

const noOrigins = await whyNoOrigins();
const SLOW = 180_000;

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
}

/** As the folder has them, for the namespace that kubectl is told; its class would be the default of a cluster that others share. */
function resources(change: (text: string) => string = (text) => text): readonly Manifest[] {
  const folder = new URL('../../../examples/quickstart/resources/', import.meta.url);
  return readdirSync(folder)
    .map((file) => readFileSync(new URL(file, folder), 'utf8').replaceAll(/^ *namespace: default\n/gm, ''))
    .flatMap((text) => parseAllDocuments(change(text)).map((document) => document.toJS() as Manifest))
    .filter(({ kind }) => kind !== 'IngressClass');
}

forEachCluster(
  (cluster, programs) => {
    describe.skipIf(noOrigins !== undefined)(
      `the quickstart${noOrigins === undefined ? '' : ` (${noOrigins})`}`,
      () => {
        test('does in a cluster what it does with folders', { timeout: SLOW }, async () => {
          await using namespace = await cluster().namespace();
          const haproxy = await haproxyBinary('3.4');
          const world = await World.open(cluster(), programs.kubectl, namespace.name);
          const { addresses, port } = await startOrigins(3);
          const [hello = '', shop = '', cart = ''] = addresses;
          await world.install();
          const pod = await world.startPod('haproxy-0', haproxy);
          const controller = await world.startController([pod], { haproxy });
          const named = {
            ...slice('hello', [hello], port),
            ports: [{ name: 'http', port, protocol: 'TCP' }],
          };
          await world.apply(ingressClass, ...resources());
          await world.apply(named, slice('shop', [shop], port), slice('cart', [cart], port));

          const answers = (wanted: Readonly<Record<string, string | number>>): Promise<unknown> =>
            until(
              async () => {
                for (const [url, answer] of Object.entries(wanted)) {
                  const at = url.indexOf('/');
                  const response = await request(pod.port, { host: url.slice(0, at), path: url.slice(at) });
                  const got = response.status === 200 ? response.body.toString() : response.status;
                  if (got !== answer) throw new Error(`${url} answers ${got}`);
                }
                return true;
              },
              { deadlineMs: 60_000, what: `the answers are ${JSON.stringify(wanted)}` },
            ).catch((error: Error) => {
              throw new Error(`${error.message}\n${controller.stdout()}`, { cause: error });
            });

          await answers({
            'hello.localhost/': hello,
            [`hello.localhost:${pod.port}/`]: hello,
            'shop.localhost/things?n=1': shop,
            'shop.localhost/cart/1': cart,
            'shop.localhost/cartoon': shop,
            'unknown.localhost/': 404,
          });

          await world.apply(...resources((text) => text.replace('path: /cart', 'path: /basket')));
          await answers({ 'shop.localhost/basket': cart, 'shop.localhost/cart': shop });

          await world.apply(...resources((text) => text.replace('name: cart\n', 'name: nobody\n')));
          await answers({ 'shop.localhost/cart': 503, 'shop.localhost/': shop, 'hello.localhost/': hello });

          const copied = resources((text) => text.replace('hello.localhost', 'copy.localhost'))
            .filter(({ kind, metadata: { name } }) => kind === 'Ingress' && name === 'hello')
            .map((object) => ({ ...object, metadata: { name: 'copy' } }));
          await world.apply(...copied);
          await answers({ 'copy.localhost/': hello, 'hello.localhost/': hello });
        });
      },
    );
  },
  ['1.37'],
);

import type { WatchContent } from '@haptic/core/contract';
import type { KubeApi } from '@haptic/kube';
import { describe, expect, test } from 'vitest';
import { forEachCluster } from '../../cluster/index.ts';
import { tempDir } from '../../haproxy/temp-dir.ts';
import { until } from '../../haproxy/until.ts';
import { ingress, slice } from '../e2e/objects.ts';
import { startAsked } from './asked.ts';
import { judgedWatch, WebhookPlace } from './webhook.ts';

/** A change of an object as a merge patch, and whether anybody is to be asked about it. */
type Change = readonly [what: string, patch: object, asked: boolean, subresource?: string];

const configMap = (metadata: object, data: object = { a: '1' }): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata,
  data,
});

const metadataChanges: readonly Change[] = [
  ['a label', { metadata: { labels: { a: 'b' } } }, true],
  ['an annotation', { metadata: { annotations: { a: 'b' } } }, true],
  ['a finalizer', { metadata: { finalizers: ['haptic.test/hold'] } }, false],
  ['a finalizer that goes', { metadata: { finalizers: null } }, false],
  ['nothing', { metadata: { labels: { a: 'b' } } }, false],
];

const kinds: readonly (readonly [
  kind: string,

  watch: Partial<WatchContent>,
  object: object,
  changes: readonly Change[],
])[] = [
  [
    'Ingress',
    {},
    ingress('x', 'a.test', 'app'),
    [
      ['its spec', { spec: { rules: [{ host: 'b.test' }] } }, true],
      ['its status', { status: { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } } }, false, 'status'],
    ],
  ],
  [
    'Secret',
    { apiVersions: ['v1'], resources: 'secrets' },
    { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'x' }, data: { a: 'YQ==' } },
    [
      ['its data', { data: { a: 'Yg==' } }, true],
      ['one more key', { data: { b: 'Yg==' } }, true],
      ['all data, gone', { data: null }, true],
      ['stringData', { stringData: { c: 'c' } }, true],
      ['immutable', { immutable: true }, true],
    ],
  ],
  [
    'ConfigMap',
    { apiVersions: ['v1'], resources: 'configmaps' },
    configMap({ name: 'x' }),
    [
      ['its data', { data: { a: '2' } }, true],
      ['binaryData', { binaryData: { b: 'Yg==' } }, true],
    ],
  ],
  [
    'EndpointSlice',
    { apiVersions: ['discovery.k8s.io/v1'], resources: 'endpointslices' },
    slice('x', ['192.0.2.1'], 80),
    [
      ['its endpoints', { endpoints: [{ addresses: ['192.0.2.2'] }] }, true],
      ['its ports', { ports: [{ name: '', port: 81 }] }, true],
    ],
  ],
];

forEachCluster((cluster) => {
  /** Counts what the API server asks while something is done. */
  async function asking(watches: Readonly<Record<string, WatchContent>>, name: string, probe: object) {
    const place = await WebhookPlace.open(await tempDir());
    const asked = await startAsked(place.tls, place.port);
    const { api } = cluster();
    await place.register(cluster(), `haptic-${name}`, watches);
    // API servers take a moment to follow a new webhook; a dry run asks, too.
    const first = Object.values(watches)[0]!;
    await until(
      async () => {
        await write(api, 'POST', `${pathOf(first, name)}?dryRun=All`, probe);
        return asked.count() > 0;
      },
      { deadlineMs: 60_000, what: 'the API server asks' },
    );
    return async (work: () => Promise<unknown>): Promise<number> => {
      const before = asked.count();
      await work();
      return asked.count() - before;
    };
  }

  const pathOf = ({ apiVersions: [apiVersion = ''], resources }: WatchContent, namespace: string): string =>
    `/${apiVersion.includes('/') ? 'apis' : 'api'}/${apiVersion}/namespaces/${namespace}/${resources}`;

  const write = (api: KubeApi, method: 'POST' | 'PATCH', path: string, body: object): Promise<unknown> =>
    api.json({
      method,
      path,
      body,
      ...(method === 'PATCH' && { contentType: 'application/merge-patch+json' }),
    });

  describe('an API server', () => {
    test.each(kinds)(
      'asks about each change of what %s says, and of nothing else',
      { timeout: 120_000 },
      async (_kind, content, object, changes) => {
        await using namespace = await cluster().namespace();
        const { api } = cluster();
        const watch = judgedWatch({ ...content, namespaces: [namespace.name] });
        const whileDoing = await asking({ watched: watch }, namespace.name, object);
        const path = pathOf(watch, namespace.name);
        const { name } = (object as { metadata: { name: string } }).metadata;
        expect(await whileDoing(() => write(api, 'POST', path, object))).toBe(1);
        for (const [what, patch, isAsked, subresource] of [...metadataChanges, ...changes]) {
          const at = [`${path}/${name}`, ...(subresource === undefined ? [] : [subresource])].join('/');
          const times = await whileDoing(() => write(api, 'PATCH', at, patch));
          // A server that patched what it remembers begins again, and asks again, where the object is newer.
          expect({ what, isAsked: times > 0 }).toEqual({ what, isAsked });
        }
      },
    );

    test(
      'asks where a watch looks, both when an object comes and when it goes',
      { timeout: 120_000 },
      async () => {
        await using namespace = await cluster().namespace();
        await using foreign = await cluster().namespace();
        const { api } = cluster();
        const maps = { apiVersions: ['v1'], resources: 'configmaps', namespaces: [namespace.name] };
        const watches = {
          labelled: judgedWatch({ ...maps, labelSelector: 'app in (a, b), !old' }),
          // Of the same resource: each has a name of its own.
          named: judgedWatch({ ...maps, fieldSelector: 'metadata.name=special' }),
        };
        const probe = configMap({ name: 'probe', labels: { app: 'a' } });
        const whileDoing = await asking(watches, namespace.name, probe);
        const path = pathOf(watches.labelled, namespace.name);
        const create = (object: object, at = path) => whileDoing(() => write(api, 'POST', at, object));
        const patch = (name: string, body: object) =>
          whileDoing(() => write(api, 'PATCH', `${path}/${name}`, body));

        expect(await create(configMap({ name: 'none' }))).toBe(0);
        expect(await create(configMap({ name: 'old', labels: { app: 'a', old: '' } }))).toBe(0);
        expect(await patch('none', { data: { a: '2' } })).toBe(0);
        expect(await patch('none', { metadata: { labels: { app: 'b' } } })).toBe(1);
        expect(await patch('none', { data: { a: '3' } })).toBe(1);
        expect(await patch('none', { metadata: { labels: { app: 'c' } } })).toBe(1);
        expect(await patch('none', { data: { a: '4' } })).toBe(0);
        expect(await create(configMap({ name: 'special' }))).toBe(1);
        expect(await patch('special', { metadata: { labels: { app: 'a' } } })).toBe(2);
        const elsewhere = pathOf(watches.labelled, foreign.name);
        expect(await create(configMap({ name: 'special', labels: { app: 'a' } }), elsewhere)).toBe(0);
      },
    );

    test(
      'tells Secrets by their type, and never asks about Helm releases',
      { timeout: 120_000 },
      async () => {
        await using namespace = await cluster().namespace();
        const { api } = cluster();
        const secrets = { apiVersions: ['v1'], resources: 'secrets', namespaces: [namespace.name] };
        const watches = {
          secrets: judgedWatch(secrets),
          opaque: judgedWatch({ ...secrets, fieldSelector: 'type=Opaque' }),
        };
        const secret = (name: string, type: string): object => ({
          apiVersion: 'v1',
          kind: 'Secret',
          metadata: { name },
          type,
        });
        const whileDoing = await asking(watches, namespace.name, secret('probe', 'Opaque'));
        const create = (object: object) =>
          whileDoing(() => write(api, 'POST', pathOf(watches.secrets, namespace.name), object));
        expect(await create(secret('opaque', 'Opaque'))).toBe(2);
        expect(await create(secret('own', 'example.org/own'))).toBe(1);
        expect(await create(secret('release', 'helm.sh/release.v1'))).toBe(0);
      },
    );
  });
});

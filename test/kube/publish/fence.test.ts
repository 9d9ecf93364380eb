import type { KubeObject } from '@haptic/core/contract';
import {
  applyObject,
  createObject,
  deleteObject,
  isApiError,
  mergeObject,
  type Resource,
} from '@haptic/kube';
import { beforeAll, describe, expect, test } from 'vitest';
import { onlyOver } from '../../../plugins/publish/src/writing/fence.ts';
import { forEachCluster } from '../../cluster/index.ts';
import { sharedDefinitions } from '../definitions.ts';

interface Kind {
  readonly resource: Resource;
  readonly content: (text: string) => object;
}

const kinds: readonly Kind[] = [
  {
    resource: { apiVersion: 'v1', resource: 'configmaps', kind: 'ConfigMap', namespaced: true },
    content: (text) => ({ data: { text } }),
  },
  {
    resource: { apiVersion: 'v1', resource: 'services', kind: 'Service', namespaced: true },
    content: (text) => ({ spec: { externalName: `${text}.test`, type: 'ExternalName' } }),
  },
  {
    resource: {
      apiVersion: 'haproxy-haptic.org/v1alpha1',
      resource: 'haproxycfgs',
      kind: 'HAProxyCfg',
      namespaced: true,
    },
    content: (planId) => ({
      spec: {
        planId,
        releaseId: 'r',
        sections: [],
        files: [],
        omitted: { sections: 0, files: 0, content: 0 },
      },
    }),
  },
];

// What the API promises nowhere and all the writing depends on: whatever release it is.
forEachCluster((cluster) => {
  beforeAll(() => sharedDefinitions(cluster().api));

  describe.each(kinds)(
    'server-side apply of a $resource.kind over what was looked at',
    ({ resource, content }) => {
      const keyIn = (namespace: string, name = 'one') => ({ resource, namespace, name });

      /** The answer, or undefined for a conflict. */
      const apply = (namespace: string, text: string, live: KubeObject | undefined, force = false) =>
        applyObject(
          cluster().api,
          keyIn(namespace),
          { metadata: onlyOver(live), ...content(text) },
          { fieldManager: 'haptic', force },
        ).catch((error: unknown) => {
          if (isApiError(error, 409)) return undefined;
          throw error;
        });

      test('creates where there is none, and only there', async () => {
        await using namespace = await cluster().namespace();
        const made = await apply(namespace.name, 'a', undefined);
        expect(made?.metadata).toMatchObject({ managedFields: [{ manager: 'haptic', operation: 'Apply' }] });
        for (const text of ['a', 'b']) {
          for (const force of [false, true]) {
            expect(await apply(namespace.name, text, undefined, force), text).toBeUndefined();
          }
        }
        expect(await apply(namespace.name, 'b', made)).toMatchObject(content('b'));
      });

      test('does not touch what somebody else has made, though it be the same', async () => {
        await using namespace = await cluster().namespace();
        const metadata = { namespace: namespace.name, name: 'one' };
        const theirs = await createObject(cluster().api, resource, { metadata, ...content('a') });
        expect(await apply(namespace.name, 'a', undefined)).toBeUndefined();
        expect(await apply(namespace.name, 'b', undefined, true)).toBeUndefined();
        expect(await apply(namespace.name, 'b', theirs, true)).toMatchObject(content('b'));
      });

      test('changes nothing that has changed since, though it would change nothing', async () => {
        await using namespace = await cluster().namespace();
        const first = await apply(namespace.name, 'a', undefined);
        const labels = { somebody: 'x' };
        await mergeObject(
          cluster().api,
          keyIn(namespace.name),
          { metadata: { labels } },
          { fieldManager: 'somebody' },
        );
        for (const text of ['a', 'b']) {
          expect(await apply(namespace.name, text, first), text).toBeUndefined();
          expect(await apply(namespace.name, text, first, true), text).toBeUndefined();
        }
      });

      test('makes nothing anew that has gone since, nor changes its successor', async () => {
        await using namespace = await cluster().namespace();
        const first = await apply(namespace.name, 'a', undefined);
        await deleteObject(cluster().api, keyIn(namespace.name));
        expect(await apply(namespace.name, 'a', first)).toBeUndefined();
        const second = await apply(namespace.name, 'a', undefined);
        expect(second?.metadata.uid).not.toBe(first?.metadata.uid);
        expect(await apply(namespace.name, 'b', first, true)).toBeUndefined();
      });
    },
  );
});

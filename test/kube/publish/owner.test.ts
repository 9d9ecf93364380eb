import { Refused, type ConfigVersion } from '@haptic/core/contract';
import { deleteObject, getObject, isApiError, objectPath, type ObjectKey } from '@haptic/kube';
import { declaredRules } from '@haptic/publish';
import { beforeAll, describe, expect, test } from 'vitest';
import { forEachCluster, proxyTo } from '../../cluster/index.ts';
import { until } from '../../haproxy/until.ts';
import { configs, sharedDefinitions } from '../definitions.ts';
import { configKey, createConfig, declared, startPublishing } from './publishing.ts';
import { SentRequests } from './sent-requests.ts';
import { configMaps, haproxyCfgs } from '../kinds.ts';

const rules = declaredRules('', 'configmaps');
const configMap = (name: string, namespace?: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...(namespace !== undefined && { namespace }) },
});

forEachCluster(
  (cluster) => {
    beforeAll(() => sharedDefinitions(cluster().api));

    const untilIs = (key: ObjectKey, expected: unknown): Promise<unknown> =>
      until(
        async () => {
          expect(await getObject(cluster().api, key)).toEqual(expected);
          return true;
        },
        { deadlineMs: 30_000, what: key.name },
      );

    const ownedBy = ({ uid }: ConfigVersion) =>
      expect.objectContaining({
        metadata: expect.objectContaining({ ownerReferences: [expect.objectContaining({ uid })] }),
      });

    /** What it owned stays, with no owner. */
    async function orphan(namespace: string): Promise<void> {
      const path = objectPath(configs, namespace, 'haptic');
      await cluster().api.json({ method: 'DELETE', path, body: { propagationPolicy: 'Orphan' } });
      await untilIs(configKey(namespace), undefined);
    }

    describe('what a config owns', () => {
      test('gets the config that is there now as its owner, also one that is rejected', async () => {
        await using namespace = await cluster().namespace();
        const { api } = cluster();
        const keys = [
          { resource: configMaps, namespace: namespace.name, name: 'declared' },
          { resource: haproxyCfgs, namespace: namespace.name, name: 'haptic' },
        ];
        const publishing = await startPublishing({ cluster: cluster(), namespace: namespace.name, rules });
        const first = await createConfig(api, namespace.name);
        publishing.accept(first);
        publishing.begin();
        publishing.release({ k8sResources: declared(configMap('declared')) });
        for (const key of keys) await untilIs(key, ownedBy(first));
        await orphan(namespace.name);
        const second = await createConfig(api, namespace.name);
        publishing.accept(second);
        for (const key of keys) await untilIs(key, ownedBy(second));
        await orphan(namespace.name);
        const version = await createConfig(api, namespace.name);
        publishing.hooks.configRejected.call(new Refused('no'), { reason: 'ConfigInvalid', version });
        for (const key of keys) await untilIs(key, ownedBy(version));
      });

      test('is not written while the config is gone or another one, all else is', async () => {
        await using namespace = await cluster().namespace();
        await using other = await cluster().namespace();
        const { api } = cluster();
        const { proxy, through } = await proxyTo(cluster());
        const written: string[] = [];
        SentRequests.to(proxy.port).onWrite = { begun: (what) => void written.push(what) };
        const publishing = await startPublishing({
          cluster: through,
          namespace: namespace.name,
          elsewhere: { [other.name]: rules },
          rules,
        });
        const config = await createConfig(api, namespace.name);
        publishing.accept(config);
        publishing.begin();
        await deleteObject(api, configKey(namespace.name));
        const objects = (name: string) => declared(configMap('own'), configMap(name, other.name));
        const untilWritten = (name: string): Promise<unknown> =>
          untilIs({ resource: configMaps, namespace: other.name, name }, expect.anything());
        publishing.release({ k8sResources: objects('gone') });
        await untilWritten('gone');
        const next = await createConfig(api, namespace.name);
        publishing.release({ k8sResources: objects('another') });
        await untilWritten('another');
        const own = (): readonly string[] =>
          written.filter((what) => /\/configmaps\/own$|\/haproxycfgs\//.test(what));
        expect(own()).toEqual([]);
        publishing.accept(next);
        for (const [resource, name] of [
          [configMaps, 'own'],
          [haproxyCfgs, 'haptic'],
        ] as const)
          await untilIs({ resource, namespace: namespace.name, name }, ownedBy(next));
        // A server learns of rights in new namespaces a moment later.
        const errors = publishing.log.records.filter(
          ({ level, fields }) => level === 'error' && !isApiError(fields['err'], 403),
        );
        expect(errors).toEqual([]);
      });
    });
  },
  ['1.37'],
);

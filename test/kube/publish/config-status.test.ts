import { Held, Refused, type ConfigVersion } from '@haptic/core/contract';
import { deleteObject, getObject, mergeObject, type ApiRequest, type KubeApi } from '@haptic/kube';
import { beforeAll, describe, expect, test } from 'vitest';
import { ConfigStatusWriter } from '../../../plugins/publish/src/config-status/config-status.ts';
import { acceptance } from '../../../plugins/publish/src/config-status/verdict.ts';
import { forEachCluster } from '../../cluster/index.ts';
import { until } from '../../haproxy/until.ts';
import { sharedDefinitions } from '../definitions.ts';
import {
  configKey,
  createConfig,
  eventsOf,
  startPublishing,
  versionOf,
  type Publishing,
} from './publishing.ts';

const patience = { deadlineMs: 30_000 };

forEachCluster(
  (cluster) => {
    beforeAll(() => sharedDefinitions(cluster().api));

    async function begin(namespace: string): Promise<{ config: ConfigVersion; publishing: Publishing }> {
      const config = await createConfig(cluster().api, namespace);
      const publishing = await startPublishing({ cluster: cluster(), namespace });
      return { config, publishing };
    }

    const statusOf = async (namespace: string): Promise<unknown> =>
      (await getObject(cluster().api, configKey(namespace)))?.['status'];

    const untilSays = (namespace: string, reason: string): Promise<unknown> =>
      until(
        async () => {
          const status = await statusOf(namespace);
          return JSON.stringify(status ?? {}).includes(`"${reason}"`) && status;
        },
        { ...patience, what: `the status says ${reason}` },
      );

    describe('the status of a config', () => {
      test('says what became of its versions, with Events, in a term alone', async () => {
        await using namespace = await cluster().namespace();
        const { config, publishing } = await begin(namespace.name);
        publishing.accept(config);
        expect(await statusOf(namespace.name)).toBeUndefined();
        publishing.begin();
        expect(await untilSays(namespace.name, 'ValidationSucceeded')).toEqual({
          observedGeneration: 1,
          conditions: [
            {
              type: 'Validated',
              status: 'True',
              observedGeneration: 1,
              reason: 'ValidationSucceeded',
              message: 'this version serves',
              lastTransitionTime: expect.stringMatching(/^\d{4}-.*Z$/),
            },
          ],
        });
        const key = '-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----';
        const problems = Array.from({ length: 80 }, (_, index) => ({
          where: `spec.maps.m${index}`,
          message: `wrong ${key}`,
        }));
        const version = { ...config, generation: 2 };
        publishing.hooks.configRejected.call(new Refused(problems), { reason: 'ConfigInvalid', version });
        const rejected = (await untilSays(namespace.name, 'ConfigInvalid')) as {
          readonly errors: readonly string[];
        };
        expect(rejected).toMatchObject({
          observedGeneration: 2,
          conditions: [{ status: 'False', observedGeneration: 2, reason: 'ConfigInvalid' }],
        });
        expect(rejected.errors).toHaveLength(51);
        expect(rejected.errors[0]).toMatch(/^spec\.maps\.m0: wrong \[redacted PEM\]$/);
        expect(rejected.errors.at(-1)).toBe('… and 30 more');
        expect(JSON.stringify(rejected)).not.toContain('MIIE');

        const held = new Held('LibraryMissing', [
          { where: 'spec.libraryRefs.0.name', message: 'library "a" is missing' },
        ]);
        publishing.hooks.configRejected.call(held, {
          reason: held.reason,
          version: { ...config, generation: 3 },
        });
        await untilSays(namespace.name, 'LibraryMissing');
        publishing.accept({ ...config, generation: 4 });
        await untilSays(namespace.name, 'ValidationSucceeded');
        expect(await statusOf(namespace.name)).not.toHaveProperty('errors');
        const events = await until(async () => {
          const found = await eventsOf(cluster().api, namespace.name);
          return found.length === 4 && found;
        }, patience);
        expect(events.map(({ type, reason, regarding }) => [type, reason, regarding.kind])).toEqual(
          expect.arrayContaining([
            ['Normal', 'ValidationSucceeded', 'HAProxyTemplateConfig'],
            ['Warning', 'ConfigInvalid', 'HAProxyTemplateConfig'],
            ['Warning', 'LibraryMissing', 'HAProxyTemplateConfig'],
          ]),
        );
      });

      test('is not written again when it is right, nor over what is newer or not ours', async () => {
        await using namespace = await cluster().namespace();
        const { api } = cluster();
        const { config, publishing } = await begin(namespace.name);
        publishing.begin();
        publishing.accept(config);
        await untilSays(namespace.name, 'ValidationSucceeded');
        const written = await versionOf(api, configKey(namespace.name));
        const next = await startPublishing({ cluster: cluster(), namespace: namespace.name });
        publishing.end();
        next.begin();
        next.accept(config);
        publishing.hooks.configRejected.call(new Refused('no'), { reason: 'ConfigInvalid', version: config });
        // Another writer of the same process tells that the first one had its turn.
        next.release({});
        await until(() => getObject(api, cfgKey(namespace.name)), patience);
        expect(await versionOf(api, configKey(namespace.name))).toBe(written);

        const newer = await mergeObject(
          api,
          configKey(namespace.name),
          { status: { observedGeneration: 9, errors: ['newer'] } },
          { fieldManager: 'somebody', subresource: 'status' },
        );
        const said = async (about: Partial<ConfigVersion>): Promise<boolean> => {
          let isNews = false;
          const news = (): void => void (isNews = true);
          const writer = new ConfigStatusWriter({ api, wall: Date.now, news });
          await writer.write(acceptance({ ...config, ...about }), { signal: AbortSignal.timeout(20_000) });
          return isNews;
        };
        expect(await said({ generation: 8 })).toBe(false);
        expect(await said({ generation: 10, uid: 'another' })).toBe(false);
        expect(await said({ generation: 10, name: 'gone' })).toBe(false);
        expect(await versionOf(api, configKey(namespace.name))).toBe(newer.metadata.resourceVersion);
        expect(await said({ generation: 9 })).toBe(true);
      });

      test('goes with one that is deleted while it is written', async () => {
        await using namespace = await cluster().namespace();
        const config = await createConfig(cluster().api, namespace.name);
        const news: unknown[] = [];
        const writer = new ConfigStatusWriter({
          api: deletingBeforeChanges(cluster().api, namespace.name),
          wall: Date.now,
          news: (verdict) => news.push(verdict),
        });
        await writer.write(acceptance(config), { signal: AbortSignal.timeout(20_000) });
        expect([news, await statusOf(namespace.name)]).toEqual([[], undefined]);
      });
    });
  },
  ['1.37'],
);

const cfgKey = (namespace: string) => ({
  resource: {
    apiVersion: 'haproxy-haptic.org/v1alpha1',
    resource: 'haproxycfgs',
    kind: 'HAProxyCfg',
    namespaced: true,
  },
  namespace,
  name: 'haptic',
});

/** Somebody else deletes the config between each look and each change. */
function deletingBeforeChanges(api: KubeApi, namespace: string): KubeApi {
  return new Proxy(api, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return async (call: ApiRequest): Promise<unknown> => {
        if (call.method === 'PATCH') await deleteObject(api, configKey(namespace));
        return await Reflect.apply(member, target, [call]);
      };
    },
  });
}

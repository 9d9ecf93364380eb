import type { ObjectInterest } from '@haptic/core/contract';
import { deleteObject } from '@haptic/kube';
import { describe, expect, test } from 'vitest';
import { forEachCluster, proxyTo } from '../../cluster/index.ts';
import { until } from '../../haproxy/until.ts';
import { change, configMaps, names, openWorld, put, secrets, untilNames, type SourceWorld } from './world.ts';
import type { FilledStore } from './source.ts';

const tls = { type: 'kubernetes.io/tls', data: { 'tls.crt': 'eA==', 'tls.key': 'eA==' } };
const opaque = { type: 'Opaque', data: { x: 'eA==' } };

/** What a plugin declares that reads ConfigMaps which name Secrets. */
const interest: ObjectInterest = {
  apiVersion: 'v1',
  resources: 'configmaps',
  secrets: ({ metadata: { namespace = '' }, data }) => {
    const { secret } = (data ?? {}) as { secret?: string };
    return secret === undefined ? [] : [{ namespace, name: secret }];
  },
};

/** A list takes longer than from one new name to the next. */
const LATENCY_MS = 300;
const BETWEEN_NAMES_MS = 150;
const MOST_NAMES = 200;

const filledBoth = ({ source, namespace }: SourceWorld): Promise<FilledStore> =>
  source.filled({
    maps: { namespaces: [namespace] },
    secrets: { resources: 'secrets', namespaces: [namespace] },
  });

forEachCluster((cluster) => {
  describe('Secrets', () => {
    test('are taken by type and by reference, never all', async () => {
      await using here = await openWorld(cluster(), { interests: [interest] });
      await put(here, secrets, 'tls', tls);
      await put(here, secrets, 'named', opaque);
      await put(here, secrets, 'later', opaque);
      await put(here, secrets, 'other', opaque);
      await put(here, secrets, 'release', { type: 'helm.sh/release.v1', data: { release: 'eA==' } });
      await put(here, configMaps, 'a', { data: { secret: 'named' } });
      const filled = await filledBoth(here);
      expect(names(filled, 'secrets')).toEqual(['named', 'tls']);

      await change(here, configMaps, 'a', { data: { secret: 'later' } });
      await untilNames(filled, 'secrets', ['later', 'tls']);
      await put(here, configMaps, 'b', { data: { secret: 'not-yet' } });
      await put(here, secrets, 'not-yet', { type: 'Opaque' });
      await untilNames(filled, 'secrets', ['later', 'not-yet', 'tls']);
    });

    test('that a watch names itself are taken whatever their type is, with rights to them alone', async () => {
      const rights = {
        apiGroups: [''],
        resources: ['secrets'],
        resourceNames: ['mine'],
        verbs: ['list', 'watch'],
      };
      await using here = await openWorld(cluster(), { objects: [rights] });
      await put(here, secrets, 'mine', opaque);
      await put(here, secrets, 'other', opaque);
      const watch = {
        resources: 'secrets',
        namespaces: [here.namespace],
        fieldSelector: 'metadata.name=mine',
      };
      const filled = await here.source.filled({ mine: watch });
      expect(names(filled, 'mine')).toEqual(['mine']);
      await deleteObject(here.api, { resource: secrets, namespace: here.namespace, name: 'mine' });
      await untilNames(filled, 'mine', []);
      await put(here, secrets, 'mine', tls);
      await untilNames(filled, 'mine', ['mine']);
    });

    test('come by many names, and by more than are asked for one by one', { timeout: 120_000 }, async () => {
      await using here = await openWorld(cluster(), { interests: [interest] });
      const wanted = Array.from({ length: 120 }, (_, index) => `secret-${index}`).toSorted();
      for (const name of wanted) {
        await put(here, configMaps, name, { data: { secret: name } });
        await put(here, secrets, name, opaque);
      }
      await put(here, secrets, 'other', opaque);
      const filled = await filledBoth(here);
      expect(names(filled, 'secrets')).toEqual(wanted);
      const left = wanted.slice(40);
      for (const name of wanted.slice(0, 40))
        await deleteObject(here.api, { resource: configMaps, namespace: here.namespace, name });
      await untilNames(filled, 'secrets', left);
      for (const name of left) await change(here, secrets, name, { data: { x: 'eQ==' } });
      await until(() =>
        filled.store
          .view()
          .watch('secrets')
          .list()
          .every(({ data }) => JSON.stringify(data) === '{"x":"eQ=="}'),
      );
    });

    test('change while new names come faster than a list takes', { timeout: 180_000 }, async () => {
      const { proxy, through } = await proxyTo(cluster());
      await using here = await openWorld(cluster(), { interests: [interest], through });
      await put(here, secrets, 'cert', tls);
      const filled = await filledBoth(here);
      proxy.slow(LATENCY_MS);
      const isRenewed = (): boolean =>
        filled.changes.some(
          ({ object, after }) => object.name === 'cert' && JSON.stringify(after).includes('"cmVuZXdlZA=="'),
        );
      for (let count = 0; !isRenewed(); count++) {
        expect(count, 'names after which the renewed certificate was not there').toBeLessThan(MOST_NAMES);
        await put(here, configMaps, `name-${count}`, { data: { secret: `missing-${count}` } });
        if (count === 10)
          await change(here, secrets, 'cert', { data: { ...tls.data, 'tls.crt': 'cmVuZXdlZA==' } });
        await new Promise((resolve) => setTimeout(resolve, BETWEEN_NAMES_MS));
      }
      // What was named last comes in, too.
      await put(here, secrets, 'last', opaque);
      await put(here, configMaps, 'last', { data: { secret: 'last' } });
      await untilNames(filled, 'secrets', ['cert', 'last']);
    });
  });
});

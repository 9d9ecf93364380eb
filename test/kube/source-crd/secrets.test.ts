import type { ObjectInterest } from '@haptic/core/contract';
import { describe, expect, test } from 'vitest';
import { forEachCluster } from '../../cluster/index.ts';
import {
  change,
  configMaps,
  names,
  openWorld,
  proxyTo,
  put,
  secrets,
  untilNames,
  type SourceWorld,
} from './world.ts';
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

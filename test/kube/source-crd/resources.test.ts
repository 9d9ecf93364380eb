import { randomBytes } from 'node:crypto';
import type { ObjectInterest } from '@haptic/core/contract';
import { applyObject, createObject, deleteObject, type Resource } from '@haptic/kube';
import { describe, expect, test } from 'vitest';
import { forEachCluster } from '../../cluster/index.ts';
import { until } from '../../haproxy/until.ts';
import type { FilledStore } from './source.ts';
import {
  change,
  configMaps,
  definition,
  definitions,
  names,
  openWorld,
  put,
  thingRules,
  thingsOf,
  untilNames,
  type SourceWorld,
  type SourceWorldOptions,
} from './world.ts';

const networking = 'networking.k8s.io/v1';
const ingresses: Resource = {
  apiVersion: networking,
  resource: 'ingresses',
  kind: 'Ingress',
  namespaced: true,
};
const classes: Resource = {
  apiVersion: networking,
  resource: 'ingressclasses',
  kind: 'IngressClass',
  namespaced: false,
};
forEachCluster((cluster) => {
  const world = (options?: SourceWorldOptions): Promise<SourceWorld & AsyncDisposable> =>
    openWorld(cluster(), options);

  describe('a watch', () => {
    test('fills a store and follows, and an ignored field is no change', async () => {
      await using here = await world();
      const { namespace } = here;
      await put(here, configMaps, 'a', { data: { x: '1' } });
      const filled = await here.source.filled({
        maps: { namespaces: [namespace], ignoreFields: ['data.noise'] },
      });
      expect(names(filled, 'maps')).toContain('a');
      await change(here, configMaps, 'a', { data: { x: '1', noise: '1' } });
      await put(here, configMaps, 'b');
      await until(() => names(filled, 'maps').includes('b'));
      expect(filled.changes.map(({ object }) => object.name)).toEqual(['b']);
      await deleteObject(here.api, { resource: configMaps, namespace, name: 'a' });
      await until(() => !names(filled, 'maps').includes('a'));
    });

    test('takes namespaces and selectors', async () => {
      await using here = await world();
      await using other = await cluster().namespace();
      await using third = await cluster().namespace();
      for (const namespace of [here.namespace, other.name, third.name]) {
        for (const color of ['red', 'blue']) {
          const metadata = { name: color, namespace, labels: { color } };
          await createObject(here.api, configMaps, { metadata });
        }
      }
      const namespaces = [here.namespace, other.name];
      const filled = await here.source.filled({
        red: { namespaces, labelSelector: 'color=red' },
        blue: { namespaces: [here.namespace], fieldSelector: 'metadata.name=blue' },
      });
      expect(names(filled, 'red')).toEqual(['red', 'red']);
      expect(names(filled, 'blue')).toEqual(['blue']);
    });

    test('is one for all who want the same', async () => {
      await using here = await world();
      await put(here, configMaps, 'a');
      const watch = { maps: { namespaces: [here.namespace] } };
      const [first, second] = [await here.source.filled(watch), await here.source.filled(watch)];
      const object = ({ store }: FilledStore) => store.view().watch('maps').get(here.namespace, 'a');
      expect(object(second)).toBe(object(first));
      first.stop();
      await put(here, configMaps, 'b');
      await until(() => names(second, 'maps').includes('b'));
      expect(names(first, 'maps')).not.toContain('b');
    });

    test('of a kind that is required and not served is refused, with the nearest name', async () => {
      await using here = await world();
      await expect(
        here.source.filled({
          web: { apiVersions: [networking], resources: 'ingress' },
          gone: { apiVersions: ['example.org/v1'], resources: 'things' },
          there: {},
        }),
      ).rejects.toThrow(
        /watchedResources\.web: the API server serves no ingress of networking\.k8s\.io\/v1.*ingresses[^]*watchedResources\.gone: .* no things of example\.org\/v1/,
      );
    });
  });

  describe('kinds that come and go', () => {
    test('fill an optional watch, in the first version that is served', async () => {
      const group = `g${randomBytes(4).toString('hex')}.example.org`;
      await using here = await world({ watching: thingRules(group) });
      const filled = await here.source.filled({
        things: { apiVersions: [`${group}/v2`, `${group}/v1`], resources: 'things', optional: true },
      });
      const served = (): boolean => filled.store.view().watch('things').served;
      expect(served()).toBe(false);

      const key = { resource: definitions, name: `things.${group}` };
      const apply = (versions: readonly string[]): Promise<unknown> =>
        applyObject(here.api, key, definition(group, versions), { fieldManager: 'test', force: true });
      await apply(['v1']);
      await until(() => served(), { deadlineMs: 20_000 });
      await until(() => put(here, thingsOf(group), 'a'));
      await untilNames(filled, 'things', ['a']);
      const version = () => filled.store.view().watch('things').list()[0]?.apiVersion;
      expect(version()).toBe(`${group}/v1`);

      await apply(['v1', 'v2']);
      await until(() => version() === `${group}/v2`, { deadlineMs: 20_000 });

      await deleteObject(here.api, key);
      await until(() => !served(), { deadlineMs: 20_000 });
      expect(names(filled, 'things')).toEqual([]);
    });
  });

  describe('foreign objects', () => {
    const interest: ObjectInterest = {
      apiVersion: networking,
      resources: 'ingresses',
      own: {
        by: { apiVersion: networking, resources: 'ingressclasses' },
        rule(deciding) {
          const own = deciding
            .filter(({ spec }) => (spec as { controller?: string }).controller === 'test.org/ours')
            .map(({ metadata }) => metadata.name)
            .toSorted();
          return {
            key: own.join(),
            keep: ({ spec }) => own.includes((spec as { ingressClassName?: string }).ingressClassName ?? ''),
          };
        },
      },
    };

    test('are dropped on arrival, and taken once they are ours', async () => {
      await using here = await world({ interests: [interest] });
      const [ours, later] = [`ours-${here.namespace}`, `later-${here.namespace}`];
      const classOf = (name: string) =>
        createObject(here.api, classes, { metadata: { name }, spec: { controller: 'test.org/ours' } });
      await classOf(ours);
      const of = (ingressClassName: string) => ({
        spec: { ingressClassName, defaultBackend: { service: { name: 's', port: { number: 80 } } } },
      });
      await put(here, ingresses, 'a', of(ours));
      await put(here, ingresses, 'b', of(later));
      await put(here, ingresses, 'c', of('foreign'));
      const filled = await here.source.filled({
        web: { apiVersions: [networking], resources: 'ingresses', namespaces: [here.namespace] },
      });
      expect(names(filled, 'web')).toEqual(['a']);

      await change(here, ingresses, 'c', {
        metadata: { name: 'c', namespace: here.namespace, labels: { x: 'y' } },
      });
      await classOf(later);
      await untilNames(filled, 'web', ['a', 'b']);
      expect(filled.changes.map(({ object }) => object.name)).toEqual(['b']);
      await change(here, ingresses, 'a', of('foreign'));
      await untilNames(filled, 'web', ['b']);
      for (const name of [ours, later]) await deleteObject(here.api, { resource: classes, name });
      await untilNames(filled, 'web', []);
    });
  });
});

import { createObject, deleteObject, getObject, replaceObject } from '@haptic/kube';
import type { KubeObject } from '@haptic/core/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import { forEachCluster, proxyTo } from '../../cluster/index.ts';
import { until } from '../../haproxy/until.ts';
import { configs, libraries, sharedDefinitions } from '../definitions.ts';
import { openWorld, type SourceWorld as World } from './world.ts';

const refs = (...names: readonly string[]): object => ({
  libraryRefs: names.map((name) => ({ name, revision: `${name}-1` })),
});

async function library(world: World, name: string, spec: object = {}): Promise<KubeObject> {
  const metadata = { name, namespace: world.namespace };
  return createObject(world.api, libraries, { metadata, spec: { revision: `${name}-1`, ...spec } });
}

async function config(world: World, spec: object, name = 'haptic'): Promise<KubeObject> {
  return createObject(world.api, configs, { metadata: { name, namespace: world.namespace }, spec });
}

async function edit(world: World, resource: typeof configs, name: string, spec: object): Promise<void> {
  const key = { resource, namespace: world.namespace, name };
  const live = await getObject(world.api, key);
  await replaceObject(world.api, key, { ...live, spec });
}

forEachCluster((cluster) => {
  beforeAll(() => sharedDefinitions(cluster().api), 60_000);

  const world = (): Promise<World & AsyncDisposable> => openWorld(cluster());

  /** What the source hands on, or why it does not. */
  const loaded = async ({ source }: World): Promise<readonly string[] | string> =>
    source.load().then(
      (sources) => sources.map(({ kind, name }) => `${kind} ${name}`),
      (error: Error & { reason?: string }) => `${error.reason ?? error.name}: ${error.message}`,
    );

  const untilLoaded = (world: World, wanted: readonly string[] | RegExp): Promise<unknown> =>
    until(
      async () => {
        const answer = await loaded(world);
        expect(answer).toEqual(wanted instanceof RegExp ? expect.stringMatching(wanted) : wanted);
        return true;
      },
      { what: `the source says ${String(wanted)}`, deadlineMs: 20_000 },
    );

  describe('the config set', () => {
    test('is the libraries in the order of the references, and the config last', async () => {
      await using here = await world();
      for (const name of ['a', 'b', 'unused']) await library(here, name);
      await config(here, refs('b', 'a'));
      await config(here, refs('a'), 'of-another-installation');
      await untilLoaded(here, ['library b', 'library a', 'config haptic']);
    });

    test('names what is missing', async () => {
      await using here = await world();
      await untilLoaded(here, /^Refused: there is no HAProxyTemplateConfig "haptic" in the namespace test-/);
      await library(here, 'base');
      await config(here, refs('bas'));
      await untilLoaded(
        here,
        /^LibraryMissing: spec\.libraryRefs\.0\.name: library "bas" is missing.*"base"/,
      );
    });

    test('is held until every library has the revision that the config refers to', async () => {
      await using here = await world();
      await library(here, 'a');
      await library(here, 'b');
      await config(here, refs('a', 'b'));
      await untilLoaded(here, ['library a', 'library b', 'config haptic']);
      await edit(here, libraries, 'a', { revision: 'a-2', templateSnippets: { s: { template: 'new' } } });
      await untilLoaded(here, /^RevisionMismatch: .*library "a" has revision "a-2", .* refers to "a-1"/);
      await edit(here, configs, 'haptic', {
        libraryRefs: [
          { name: 'a', revision: 'a-2' },
          { name: 'b', revision: 'b-1' },
        ],
      });
      await untilLoaded(here, ['library a', 'library b', 'config haptic']);
      await deleteObject(here.api, { resource: libraries, namespace: here.namespace, name: 'b' });
      await untilLoaded(here, /^LibraryMissing/);
    });

    test('takes a hand edit under the same revision', async () => {
      await using here = await world();
      await library(here, 'a');
      await config(here, refs('a'));
      await untilLoaded(here, ['library a', 'config haptic']);
      const before = here.source.configChanges();
      await edit(here, libraries, 'a', { revision: 'a-1', settings: { by: 'hand' } });
      await until(() => here.source.configChanges() > before);
      await until(async () => {
        const [a] = await here.source.load();
        return (a!.spec as { settings?: { by?: string } }).settings?.by === 'hand';
      });
    });

    test('counts the watches that begin again', async () => {
      const { proxy, through } = await proxyTo(cluster());
      await using here = await openWorld(cluster(), { through });
      await library(here, 'a');
      await config(here, refs('a'));
      await untilLoaded(here, ['library a', 'config haptic']);
      const { meter } = here.source;
      const counted = (watch: string): number =>
        meter.value('haptic_watch_restarts_total', { watch, cause: 'error' });
      await until(
        () => {
          // A cut before a watch is open ends nothing that counts as one.
          proxy.cut();
          return counted(configs.resource) > 0 && counted(libraries.resource) > 0;
        },
        { deadlineMs: 30_000, what: 'both watches of the configuration are counted' },
      );
    });

    test('does not change by a status', async () => {
      await using here = await world();
      await config(here, { ...refs('a') });
      await untilLoaded(here, /^LibraryMissing/);
      const before = here.source.configChanges();
      const key = { resource: configs, namespace: here.namespace, name: 'haptic' };
      const live = await getObject(here.api, key);
      const path = `/apis/${configs.apiVersion}/namespaces/${here.namespace}/${configs.resource}/haptic/status`;
      await here.api.json({ method: 'PUT', path, body: { ...live, status: { observedGeneration: 1 } } });
      // What comes after it on the same watch tells that it was seen.
      await edit(here, configs, 'haptic', refs('b'));
      await untilLoaded(here, /"b" is missing/);
      expect(here.source.configChanges()).toBe(before + 1);
    });
  });
});

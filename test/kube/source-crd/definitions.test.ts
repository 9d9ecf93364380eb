import { createObject, deleteObject, getObject } from '@haptic/kube';
import { expect, test } from 'vitest';
import { withOwnClusters } from '../../cluster/index.ts';
import { until } from '../../haproxy/until.ts';
import { configs, libraries, sharedDefinitions } from '../definitions.ts';
import { definitions, openWorld, type SourceWorld } from './world.ts';

const patience = { deadlineMs: 60_000 };

const loaded = ({ source }: SourceWorld): Promise<string> =>
  source.load().then(
    (sources) => sources.map(({ name }) => name).join(),
    (error: Error) => error.message,
  );

withOwnClusters((start) => {
  test('a source waits for the definitions of its kinds, and for what comes after them', async () => {
    const { access } = await start({ controllers: false });
    await using here = await openWorld(access);
    expect(await loaded(here)).toMatch(/not installed: apply the definitions of the chart/);
    const before = here.source.configChanges();
    await sharedDefinitions(access.api);
    const { namespace } = here;
    const library = { metadata: { name: 'base', namespace }, spec: { revision: '1' } };
    await createObject(access.api, libraries, library);
    const spec = { libraryRefs: [{ name: 'base', revision: '1' }] };
    const config = { metadata: { name: 'haptic', namespace }, spec };
    await createObject(access.api, configs, config);
    await until(async () => (await loaded(here)) === 'base,haptic', patience);
    expect(here.source.configChanges()).toBeGreaterThan(before);

    // Gone with all objects, and back again.
    const key = { resource: definitions, name: `${configs.resource}.haproxy-haptic.org` };
    await deleteObject(access.api, key);
    await until(async () => (await getObject(access.api, key)) === undefined, patience);
    await until(async () => /not installed|there is no/.test(await loaded(here)), patience);
    await sharedDefinitions(access.api);
    await createObject(access.api, configs, config);
    await until(async () => (await loaded(here)) === 'base,haptic', patience);
  });
});

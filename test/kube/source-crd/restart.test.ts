import { createObject } from '@haptic/kube';
import { expect, test } from 'vitest';
import { withOwnClusters } from '../../cluster/index.ts';
import { until } from '../../haproxy/until.ts';
import { definition, definitions, names, openWorld, put, thingRules, thingsOf } from './world.ts';

const GROUP = 'optional.example.org';
/** Each costs the starting server some time before it lists the kinds of the last. */
const OTHER_DEFINITIONS = 20;
const restarts = process.env['HAPTIC_SOAK'] === '1' ? 10 : 2;

withOwnClusters((start) => {
  test(
    'objects of an optional kind stay while an API server starts again',
    { timeout: 300_000 },
    async () => {
      const cluster = await start({ controllers: false });
      const { access } = cluster;
      for (let count = 0; count < OTHER_DEFINITIONS; count++) {
        await createObject(access.api, definitions, definition(`g${count}.example.org`, ['v1']));
      }
      await createObject(access.api, definitions, definition(GROUP, ['v1']));
      const things = thingsOf(GROUP);
      await using here = await openWorld(access, {
        watching: thingRules(GROUP),
        // As often as can be: the moment is short in which a kind is not listed.
        discoveryInterval: 10,
      });
      const patience = { deadlineMs: 90_000 };
      await until(() => put(here, things, 'thing-0'), patience);
      const filled = await here.source.filled({
        things: { apiVersions: [things.apiVersion], resources: 'things', optional: true },
      });
      await until(() => names(filled, 'things').includes('thing-0'), patience);

      for (let count = 1; count <= restarts; count++) {
        await cluster.apiServer.kill();
        await cluster.startApiServer();
        // What comes afterwards tells that the watch goes on, with everything that was there.
        await until(() => put(here, things, `thing-${count}`), patience);
        await until(() => names(filled, 'things').includes(`thing-${count}`), patience);
      }
      expect(filled.changes.filter(({ type }) => type === 'deleted')).toEqual([]);
      expect(names(filled, 'things')).toHaveLength(restarts + 1);
    },
  );
});

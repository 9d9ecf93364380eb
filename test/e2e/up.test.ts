import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { origin } from '../haproxy/origin.ts';
import { tempDir } from '../haproxy/temp-dir.ts';
import { until } from '../haproxy/until.ts';
import { forEachVersion } from '../haproxy/versions.ts';
import { noTrace, up } from './haptic-process.ts';
import { documents, endpoints, ingress, service } from './objects.ts';
import { answer, HOST, renameIntoPlace, site } from './site.ts';

const soon = { deadlineMs: 20_000 };

forEachVersion(
  ({ binary }) => {
    test('what files say is what the wire does', async () => {
      const { dir, write } = await site();
      const more = await tempDir();
      const run = await up({ haproxy: binary, resources: [dir, more] });
      const becomes = (expected: string | number, host: string, path = '/'): Promise<unknown> =>
        until(async () => (await answer(run.port, host, path)) === expected, {
          ...soon,
          what: `${host}${path} is answered by ${expected}`,
        });

      // Served from the start, and what is not there.
      expect(await answer(run.port)).toBe('app');
      expect(await answer(run.port, 'unknown.example')).toBe(404);

      // A new file.
      await write('new.yaml', ingress('new', 'new.example', { '/in': 'app' }));
      await becomes('app', 'new.example', '/in/side');
      await becomes(404, 'new.example', '/out');

      // An edit in place, one by a rename, and a file under another name.
      await write('new.yaml', ingress('new', 'new.example', { '/out': 'app' }));
      await becomes('app', 'new.example', '/out');
      await becomes(404, 'new.example', '/in');
      await renameIntoPlace(dir, 'new.yaml', ingress('new', 'newer.example', { '/': 'app' }));
      await becomes('app', 'newer.example');
      await becomes(404, 'new.example');
      await rename(join(dir, 'new.yaml'), join(dir, 'moved.yaml'));
      await write('mark.yaml', ingress('mark', 'mark.example', { '/': 'app' }));
      await becomes('app', 'mark.example');
      expect(await answer(run.port, 'newer.example')).toBe('app');

      // Away with it.
      await rm(join(dir, 'moved.yaml'));
      await becomes(404, 'newer.example');

      // A service that is not there, comes without endpoints, then gets some, in the other folder; they change, and go.
      await write('late.yaml', ingress('late', 'late.example', { '/': 'late' }));
      await becomes(503, 'late.example');
      const [first, second] = [await origin('first'), await origin('second')];
      await mkdir(join(more, 'deep'));
      await renameIntoPlace(more, 'late.yaml', documents(service('late'), endpoints('late', first.port)));
      await becomes('first', 'late.example');
      await renameIntoPlace(more, 'late.yaml', documents(service('late'), endpoints('late', second.port)));
      await becomes('second', 'late.example');
      await renameIntoPlace(more, 'late.yaml', service('late'));
      await becomes(503, 'late.example');

      // Everything else went on.
      expect(await answer(run.port, HOST)).toBe('app');
      // HAProxy itself says when the last endpoint of a service goes.
      const unexpected = run.errors().filter(({ line }) => !String(line).includes('has no server available'));
      expect(unexpected).toEqual([]);
      process.kill(run.pid, 'SIGTERM');
      expect(await run.ended).toBe(0);
      await noTrace(run, 2_000);
    });

    test('its events say what is served and what was changed', async () => {
      const { dir, write } = await site();
      const run = await up({ haproxy: binary, resources: [dir] });
      await write('app.yaml', ingress('app', 'other.example', { '/': 'app' }));
      await until(async () => (await answer(run.port, 'other.example')) === 'app', soon);
      await until(() => run.events().some(({ event }) => event === 'applied'), soon);
      process.kill(run.pid, 'SIGINT');
      expect(await run.ended).toBe(0);
      expect(run.events()).toEqual([
        { event: 'starting' },
        {
          event: 'serving',
          url: `http://localhost:${run.port}`,
          haproxyVersion: expect.stringMatching(/^\d+\.\d+\.\d+/),
          routes: [{ host: HOST, path: '/*', to: 'default/app:80', from: 'Ingress default/app' }],
        },
        expect.objectContaining({
          event: 'applied',
          pod: 'local',
          result: 'runtime',
          changes: ['updated ingresses default/app'],
        }),
        { event: 'stopping' },
      ]);
    });

    test('an empty folder serves 404 until there is something', async () => {
      const { dir } = await site();
      const empty = await tempDir();
      const run = await up({ haproxy: binary, resources: [empty] });
      expect(await answer(run.port)).toBe(404);
      for (const name of ['class.yaml', 'backend.yaml', 'app.yaml']) {
        await rename(join(dir, name), join(empty, name));
      }
      await until(async () => (await answer(run.port)) === 'app', soon);
    });
  },
  ['3.4'],
);

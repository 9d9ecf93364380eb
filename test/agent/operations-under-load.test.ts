import { expect, test } from 'vitest';
import { origin } from '../haproxy/origin.ts';
import { request } from '../haproxy/raw-request.ts';
import { forEachVersion } from '../haproxy/versions.ts';
import { runningPod } from './running-pod.ts';
import { coldDump, workerDump } from './worker-dump.ts';
import type { World } from './world.ts';

forEachVersion(({ binary }) => {
  test('a list that was empty is searched by the requests that came while it was filled', async () => {
    const { pod, deployer } = await runningPod(binary);
    // More than fits into one line, and than HAProxy searches without remembering what it found.
    const filler = Array.from(
      { length: 900 },
      (_, at) => [`^/never-${at}-${'x'.repeat(150)}`, 'no'] as const,
    );
    const { port } = await origin('app');
    const app = { body: 'balance roundrobin\n', servers: { a: { port } } };
    const empty: World = { backends: { app }, hosts: {}, rules: [] };
    const full: World = { ...empty, rules: [['^/r1', 'app'], ...filler, ['^/r\\d+$', 'app']] };
    const paths = ['/r1', '/r22'];
    const statuses = (): Promise<number[]> =>
      Promise.all(paths.map(async (path) => (await request(pod.port, { path })).status));
    await deployer.deploy(empty);
    for (let round = 0; round < 5; round++) {
      const filled = new AbortController();
      const clients = paths.map(async (path) => {
        while (!filled.signal.aborted) await request(pod.port, { path });
      });
      const { reply } = await deployer.deploy(full).finally(() => filled.abort());
      await Promise.all(clients);
      expect([reply.body.outcome, reply.body.message]).toEqual(['runtime', undefined]);
      expect(await statuses()).toEqual([200, 200]);
      expect((await deployer.deploy(empty)).reply.body.outcome).toBe('runtime');
      expect(await statuses()).toEqual([404, 404]);
    }
    expect(await workerDump(pod)).toEqual(await coldDump(pod, binary));
  });
});

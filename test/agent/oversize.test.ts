import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Rendered } from '@haptic/core/contract';
import { onCleanup } from '../haproxy/cleanup.ts';
import { tempDir } from '../haproxy/temp-dir.ts';
import { until } from '../haproxy/until.ts';
import { forEachVersion } from '../haproxy/versions.ts';
import { startController } from './controller.ts';
import { fleetPod, startFleet } from './fleet.ts';
import { TOKEN } from './pod.ts';
import { renderedOf } from './rendered.ts';
import { writeFile } from 'node:fs/promises';
import type { World } from './world.ts';

/** Two of them are more than one message holds, one is not. */
const HALF = 34 * 1024 * 1024;
const files = (...names: readonly string[]): World => ({
  backends: {},
  hosts: {},
  files: Object.fromEntries(names.map((name) => [name, `${name}\n`.repeat(HALF / 2)])),
});

/** The same, and which files were read to be sent. */
function watched(rendered: Rendered): { readonly rendered: Rendered; readonly reads: string[] } {
  const reads: string[] = [];
  const read = (path: string): Uint8Array => {
    reads.push(path);
    return rendered.files.read(path);
  };
  return { rendered: { ...rendered, files: { ...rendered.files, read } }, reads };
}

forEachVersion(
  ({ binary }) => {
    test(
      'what is too large for one pod is told with its files and built once',
      { timeout: 180_000 },
      async () => {
        const [full, fresh] = [await fleetPod(binary), await fleetPod(binary)];
        const fleet = await startFleet([full.pod, fresh.pod]);
        await fresh.agent.kill();
        const half = fleet.render(files('a'));
        fleet.want(half);
        await fleet.settled(half.plan, [0]);
        const { rendered: whole, reads } = watched(fleet.render(files('a', 'b')));
        fleet.want(whole);
        await fleet.settled(whole.plan, [0]);
        expect(reads.filter((path) => path === 'files/a')).toEqual([]);

        reads.length = 0;
        await fresh.pod.startAgent();
        const rejections = () =>
          fleet.told.filter(
            ({ pod, planId, result }) => pod === 'pod-1' && planId === whole.plan.id && result === 'rejected',
          );
        await until(() => rejections().length >= 2, { what: 'it is tried again', deadlineMs: 30_000 });
        expect(reads.toSorted()).toEqual(
          [
            'files/a',
            'files/b',
            'haproxy.cfg',
            ...whole.plan.files.map(({ path }) => path).filter((path) => path.startsWith('maps/')),
          ].toSorted(),
        );
        const [first] = rejections();
        for (const rejection of rejections()) {
          expect(rejection).toMatchObject({ stage: 'limits', message: first?.message });
        }
        expect(first?.message).toMatch(
          /^the message for this pod is too large: it has contents of 71,3\d\d,\d{3} bytes, an agent takes at most 67,108,864 bytes; it carries \d files, the largest: files\/a \(35,651,584 bytes\), files\/b \(35,651,584 bytes\), haproxy\.cfg \(/,
        );
        expect(await fresh.pod.state()).toMatchObject({ applied: null, token: null });

        const small = fleet.render(files('b'));
        fleet.want(small);
        await fleet.settled(small.plan);
      },
    );
  },
  ['3.4'],
);

test('an agent that takes less is heard, and not asked again with the same', async () => {
  const dir = await tempDir();
  const [state] = JSON.parse(
    readFileSync(new URL('../data/agent-protocol-2/states.json', import.meta.url), 'utf8'),
  ) as [object];
  let applies = 0;
  const server = createServer((request, response) => {
    request.resume().once('end', () => {
      if (request.method === 'GET') return response.end(JSON.stringify(state));
      applies += 1;
      return response.writeHead(413).end(JSON.stringify({ error: 'the message has more than 100 bytes' }));
    });
  });
  server.listen(join(dir, 'agent.sock'));
  await once(server, 'listening');
  onCleanup(() => void server.close());
  await writeFile(join(dir, 'token'), TOKEN);
  const pod = { name: 'pod-0', socketPath: join(dir, 'agent.sock'), tokenFile: join(dir, 'token') };
  const controller = await startController({ mode: 'static', pods: [pod] });
  await until(() => controller.fleet.facts().haproxyVersion);
  const rendered = renderedOf({ 'haproxy.cfg': 'global\n', 'maps/a.map': 'a 1\n' });
  for (let turn = 0; turn < 2; turn += 1) {
    const [outcome] = await controller.deploy(rendered);
    expect(outcome).toMatchObject({ result: 'rejected', stage: 'limits' });
    expect(outcome?.message).toMatch(
      /: it has 1,\d{3} bytes, the agent says 413: the message has more than 100 bytes; it carries \d files?/,
    );
  }
  expect(applies).toBe(1);
});

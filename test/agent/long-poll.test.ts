import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { stateSchema } from '@haptic/agent/protocol';
import { onCleanup } from '../haproxy/cleanup.ts';
import { tempDir } from '../haproxy/temp-dir.ts';
import { until } from '../haproxy/until.ts';
import { startController } from './controller.ts';
import { TOKEN } from './pod.ts';

const [sample] = JSON.parse(
  readFileSync(new URL('../data/agent-protocol-2/states.json', import.meta.url), 'utf8'),
) as [unknown];
const state = { ...stateSchema.parse(sample), drift: [] };

const settled = { applied: 'p', running: 'p', inStep: true, pendingReload: null };
const unsettled = { ...settled, running: null, inStep: false };

test.each([
  ['a worker of which it is not known yet what it runs', unsettled, 1_000],
  ['a worker in step', settled, 20_000],
  ['a reload that waits for its turn', { ...unsettled, pendingReload: { planId: 'p', dueMs: 5 } }, 20_000],
  ['a pod that has nothing yet', { ...unsettled, applied: null }, 20_000],
])('agents are asked to hold their answers by what may become known: %s', async (_, change, expected) => {
  const dir = await tempDir();
  const waits: number[] = [];
  const server = createServer((request, response) => {
    const wait = new URL(request.url ?? '', 'http://agent').searchParams.get('waitMs');
    if (wait === null) return response.end(JSON.stringify({ ...state, ...change }));
    return waits.push(Number(wait));
  });
  server.listen(join(dir, 'agent.sock'));
  await once(server, 'listening');
  onCleanup(() => {
    server.closeAllConnections();
    server.close();
  });
  await writeFile(join(dir, 'token'), TOKEN);
  const pod = { name: 'pod-0', socketPath: join(dir, 'agent.sock'), tokenFile: join(dir, 'token') };
  await startController({ mode: 'static', pods: [pod] });
  await until(() => waits.length > 0);
  expect(waits).toEqual([expected]);
});

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { main } from '@haptic/cli';
import { anyHaproxy, HaproxyUnavailable } from '../../tools/haproxy/index.ts';
import { endpointSlice, startOrigins } from './origins.ts';

/** The whole quickstart: get HAProxy, start the origin servers, run `haptic up` on the resources beside this file. */
async function start(): Promise<void> {
  const haproxy = await anyHaproxy({ log: (line) => console.error(line) });
  const { origins, stop } = await startOrigins(['hello', 'shop', 'cart']);
  const endpoints = await mkdtemp(join(tmpdir(), 'haptic-quickstart-'));
  try {
    for (const origin of origins) {
      await writeFile(join(endpoints, `${origin.service}.json`), endpointSlice(origin));
    }
    const resources = join(import.meta.dirname, 'resources');
    await main([
      'up',
      '--haproxy',
      haproxy,
      '--resources',
      resources,
      '--resources',
      endpoints,
      ...process.argv.slice(2),
    ]);
  } finally {
    stop();
    await rm(endpoints, { recursive: true, force: true });
  }
}

try {
  await start();
} catch (error) {
  if (!(error instanceof HaproxyUnavailable)) throw error;
  console.error(error.message);
  process.exitCode = 2;
}

import { createServer, type Server } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { PluginContext, PluginDefinition } from '../contract/plugin.ts';
import { pluginContract } from './plugin-contract.ts';

const servers: Server[] = [];

async function listen(): Promise<Server> {
  const server = createServer();
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

afterEach(async () => {
  for (const server of servers.splice(0)) {
    if (server.listening) await new Promise((resolve) => server.close(resolve));
  }
});

function plugin(
  setup: (context: PluginContext) => void | Promise<void>,
  options: z.ZodType = z.strictObject({}),
) {
  return { name: 'subject', apiVersion: 1, options, setup } satisfies PluginDefinition;
}

/** Names of the checks that fail. */
async function failures(definition: PluginDefinition): Promise<string[]> {
  const failed: string[] = [];
  for (const { name, run } of pluginContract(definition, { options: {}, closeMs: 200 })) {
    await run().catch(() => failed.push(name));
  }
  return failed;
}

describe('pluginContract', () => {
  it('is kept by a plugin that closes what it opens', async () => {
    const server = plugin(async ({ onDispose }) => {
      const open = await listen();
      onDispose(() => new Promise((resolve) => open.close(() => resolve())));
    });
    expect(await failures(server)).toEqual([]);
  });

  it('is broken by one that leaves a server open', async () => {
    const leaky = plugin(async () => void (await listen()));
    expect(await failures(leaky)).toEqual(['subject closes everything that it opens']);
  });

  it('is broken by one that takes any option', async () => {
    expect(await failures(plugin(() => {}, z.object({})))).toEqual([
      'subject refuses an option that it does not have, in its own name',
    ]);
  });

  it('is broken by one that can be set up only once', async () => {
    let used = false;
    const single = plugin(() => {
      if (used) throw new Error('already used');
      used = true;
    });
    expect(await failures(single)).toContain('subject can be set up again on a new host');
  });

  it('is broken by one that is no definition', async () => {
    const failed = await failures({ ...plugin(() => {}), nme: 'x' } as PluginDefinition);
    expect(failed).toContain('subject is a definition of this contract');
  });
});

import fastify from 'fastify';
import { z } from 'zod';
import { API_VERSION, type PluginDefinition } from '@haptic/core/contract';
import type { AgentHooks } from '../hooks.ts';
import { SCRAPE } from '../services.ts';
import { listen, type ListenAddress } from './listen.ts';

const options = z.strictObject({
  host: z.string().min(1).default('127.0.0.1'),
  port: z.int().min(0).max(65_535),
  onListening: z.custom<(address: ListenAddress) => void>((value) => typeof value === 'function').optional(),
});

/**
 * `/healthz` and `/readyz` in plain HTTP for probes, and `/metrics`; they carry no state, and the first two never follow the outcome of an apply: a refused
 * configuration must not take a serving pod out. That this plugin is set up means that the agent is initialised.
 */
const health: PluginDefinition<typeof options, AgentHooks> = {
  name: 'health',
  apiVersion: API_VERSION,
  options,
  after: ['metrics', 'api'],
  async setup(context, { host, port, onListening }) {
    const server = fastify({ forceCloseConnections: true, logger: false });
    for (const path of ['/healthz', '/readyz']) server.get(path, async () => 'ok\n');
    const scrape = context.tryUse(SCRAPE);
    if (scrape !== undefined) {
      server.get('/metrics', async (_request, reply) =>
        reply.type(scrape.contentType).send(await scrape.text()),
      );
    }
    context.onDispose(() => server.close());
    const bound = await listen(server, { host, port });
    onListening?.(bound);
  },
};
export default health;

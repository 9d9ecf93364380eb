import { z } from 'zod';
import { API_VERSION, METER, type PluginDefinition } from '@haptic/core/contract';
import type { AgentHooks } from '../hooks.ts';
import { SCRAPE } from '../services.ts';
import { PROTOCOL_VERSION } from '../protocol/index.ts';
import { beginWithZero, measureApply } from './applied.ts';
import { BUILD_INFO } from './definitions.ts';

const options = z.strictObject({
  /** Of the agent. */
  version: z.string().min(1),
});

/** Keeps what the agent measures for Prometheus; the plain HTTP server hands it out. */
const metrics: PluginDefinition<typeof options, AgentHooks> = {
  name: 'metrics',
  apiVersion: API_VERSION,
  options,
  async setup(context, { version }) {
    // Loaded only where somebody wants it: an agent is small.
    const { PrometheusMeter } = await import('@haptic/prometheus');
    const meter = new PrometheusMeter(context.clock);
    context.provide(METER, meter);
    context.provide(SCRAPE, { contentType: meter.contentType, text: () => meter.scrape() });
    meter.gauge(BUILD_INFO, 1, { version, protocol: String(PROTOCOL_VERSION) });
    beginWithZero(meter);
    context.hooks.applied.tap(context.name, (answer, mode) => measureApply(meter, answer, mode));
  },
};
export default metrics;

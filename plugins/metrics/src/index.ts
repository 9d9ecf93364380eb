import type { AddressInfo } from 'node:net';
import { CONTROLLER, definePlugin, FLEET, METER, TERM } from '@haptic/core/contract';
import { measureConfig } from './config-metrics.ts';
import { DeployMetrics } from './deploy-metrics.ts';
import { measureLeadership } from './leader-metrics.ts';
import { options } from './options.ts';
import { measureRenders } from './render-metrics.ts';
import { measureState } from './state-metrics.ts';

/** Keeps what the controller, the host and all plugins measure, for Prometheus to fetch. First in the order, so that it misses nothing. */
export default definePlugin({
  name: 'metrics',
  apiVersion: 1,
  options,
  async setup(context, { host, port, onListening }) {
    const { name, hooks, log, clock } = context;
    // Loaded only where somebody wants it: most commands do not.
    const [{ ControllerMeter }, { createServer }] = await Promise.all([
      import('./controller-meter.ts'),
      import('./server.ts'),
    ]);
    const meter = new ControllerMeter(clock);
    context.provide(METER, meter);
    const controller = context.use(CONTROLLER);
    const fleet = () => context.tryUse(FLEET);
    const deploys = new DeployMetrics(meter, fleet);
    measureRenders(hooks, name, meter);
    measureConfig(hooks, name, meter);
    measureLeadership(hooks, name, meter);
    deploys.observe(hooks, name);

    const scrape = (): Promise<string> => {
      deploys.forgetGone();
      measureState(meter, {
        status: controller.status(),
        fleet: fleet(),
        term: context.tryUse(TERM)?.current(),
      });
      return meter.scrape();
    };
    const server = createServer({ contentType: meter.contentType, scrape, log });
    context.onDispose(() => server.close());
    await server.listen({ host, port });
    const bound = server.server.address() as AddressInfo;
    log.info({ host, port: bound.port }, 'answers Prometheus');
    onListening?.({ host, port: bound.port });
  },
});

import { TEMPLATE_NAMES, type PluginDefinition } from '@haptic/core/contract';
import { createHooks, Host, offer } from '@haptic/core/host';
import { createNames, type NameRegistry } from '@haptic/core/templates';
import { memoryLog } from '@haptic/core/testing';
import ingress from '@haptic/ingress';
import routing, { ROUTES, type RouteSource } from '@haptic/routing';
import { z } from 'zod';
import { sha256 } from './libraries.ts';

/** The plugins of which routing consists; a test may put another build of one in its place. */
export interface RoutingPlugins {
  readonly routing: PluginDefinition;
  readonly ingress: PluginDefinition;
}

export const productionPlugins: RoutingPlugins = { routing, ingress };

/** Starts the plugins in a host, with test sources of routes, and gives all names that templates see then. */
export async function templateNames(
  plugins: RoutingPlugins,
  sources: readonly RouteSource[],
): Promise<NameRegistry> {
  const names = createNames(sha256);
  const host = await Host.start({
    hooks: createHooks(),
    observers: [],
    plugins: [plugins.routing, plugins.ingress, sourcesPlugin(sources)].map((plugin) => ({ plugin })),
    log: memoryLog(),
    services: [offer(TEMPLATE_NAMES, names)],
  });
  await host.close();
  return names;
}

function sourcesPlugin(sources: readonly RouteSource[]): PluginDefinition {
  return {
    name: 'test-routes',
    apiVersion: 1,
    options: z.strictObject({}),
    after: ['routing'],
    setup: ({ use }) => {
      for (const source of sources) use(ROUTES).add(source);
    },
  };
}

import { TEMPLATE_NAMES, type PluginDefinition, type TemplateGlobal } from '@haptic/core/contract';
import { Host, offer } from '@haptic/core/host';
import { memoryLog } from '@haptic/core/testing';
import ingress from '@haptic/ingress';
import routing, { ROUTES, type RouteSource } from '@haptic/routing';
import { z } from 'zod';

/** The plugins of which routing consists; a test may put another build of one in its place. */
export interface RoutingPlugins {
  readonly routing: PluginDefinition;
  readonly ingress: PluginDefinition;
}

export const productionPlugins: RoutingPlugins = { routing, ingress };

/** Starts the plugins in a host, with test sources of routes, and gives the globals that they add for templates. */
export async function pluginGlobals(
  plugins: RoutingPlugins,
  sources: readonly RouteSource[],
): Promise<readonly TemplateGlobal[]> {
  const globals: TemplateGlobal[] = [];
  const host = await Host.start({
    hooks: {},
    observers: [],
    plugins: [plugins.routing, plugins.ingress, sourcesPlugin(sources)].map((plugin) => ({ plugin })),
    log: memoryLog(),
    services: [
      offer(TEMPLATE_NAMES, { global: (global) => void globals.push(global), helper: () => undefined }),
    ],
  });
  await host.close();
  return globals;
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

import { definePlugin, OBJECT_CHECKS, PluginError, TEMPLATE_NAMES } from '@haptic/core/contract';
import { z } from 'zod';
import { routingGlobal } from './global.ts';
import { objectChecks } from './object-checks.ts';
import { SERVED_ROUTES, servedRoutes } from './served-routes.ts';
import { ROUTES, type RouteSource } from './service.ts';
import { tenancySchema } from './tenancy.ts';

export { expected, isAbsent, objectCheck, oneOf } from './admissible.ts';
export { backendName } from './backend.ts';
export { anyHost, parseHost, type HostPattern } from './host.ts';
export { RouteCompiler, type CompiledRoutes, type RoutesToCompile } from './compiler.ts';
export type { UsedBackend } from './used-backend.ts';
export type { RoutedBackend } from './backends.ts';
export type { Routing } from './global.ts';
export { objectRef } from './kube-objects.ts';
export type { MapEntry } from './map-entry.ts';
export type {
  BackendRef,
  Condition,
  Destination,
  Listener,
  PathPattern,
  Redirect,
  Route,
  RouteOrigin,
  Target,
} from './route.ts';
export { ROUTES, type RouteSet, type RouteSource, type Routes, type RouteWarning } from './service.ts';
export { quoted } from './quoted.ts';
export { SERVED_ROUTES, type ServedRoute, type ServedRoutes } from './served-routes.ts';
export { sameItems } from './same-items.ts';
export { isExternalName, servicePort, type PortName } from './service-port.ts';
export type { Shadowed, ShadowReason } from './shadow.ts';

/** Owns the route model: sources add routes, templates see what they compile to. */
export default definePlugin({
  name: 'routing',
  apiVersion: 1,
  options: z.strictObject({}),
  config: { key: 'tenancy', schema: tenancySchema },
  setup(context) {
    const sources = new Map<string, RouteSource>();
    context.provide(ROUTES, {
      add(source) {
        if (sources.has(source.name)) {
          throw new PluginError(
            'PLUGIN_SERVICE',
            context.name,
            `there is a source of routes "${source.name}" already`,
          );
        }
        sources.set(source.name, source);
      },
    });
    context.provide(SERVED_ROUTES, servedRoutes(sources));
    const checks = context.tryUse(OBJECT_CHECKS);
    for (const check of objectChecks) checks?.add(check);
    context.use(TEMPLATE_NAMES).global(routingGlobal(sources));
  },
});

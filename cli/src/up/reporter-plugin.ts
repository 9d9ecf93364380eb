import {
  definePlugin,
  FLEET,
  z,
  type Fleet,
  type Outcome,
  type PluginDefinition,
  type RenderPlan,
} from '@haptic/core/contract';
import type { Controller } from '@haptic/core/controller';
import { SERVED_ROUTES, type ServedRoutes } from '@haptic/routing';
import type { Reporter } from './reporter.ts';

export interface Reporting {
  readonly plugin: PluginDefinition;
  /** From now on this controller's doings are reported. */
  watch(controller: Controller): void;
}

/** Tells a reporter what the controller does: an observer like any other plugin. */
export function reporterPlugin(reporter: Reporter, url: string): Reporting {
  let controller: Controller | undefined;
  let serving = false;

  function announce(fleet: Fleet, routes: ServedRoutes): void {
    const input = controller?.status().input;
    serving = true;
    reporter.serving({
      url,
      haproxyVersion: fleet.facts().haproxyVersion ?? 'unknown',
      routes: input === undefined ? [] : routes.list({ ...input, settings: input.config.settings }),
    });
  }

  const plugin = definePlugin({
    name: 'terminal',
    apiVersion: 1,
    options: z.strictObject({}),
    after: ['routing', 'deploy-agent'],
    setup({ name, hooks, use }) {
      const fleet = use(FLEET);
      const routes = use(SERVED_ROUTES);
      hooks.applied.tap(
        name,
        (plan: RenderPlan, outcomes: readonly Outcome[], { changes, sinceChangeMs }) => {
          const took = outcomes.filter(({ result }) => result !== 'rejected' && result !== 'unreachable');
          if (!serving && took.length > 0) return announce(fleet, routes);
          for (const outcome of outcomes) {
            if (outcome.result !== 'noop')
              reporter.applied({ plan, outcome, changes, durationMs: sinceChangeMs });
          }
        },
      );
    },
  });
  return {
    plugin,
    watch(watched) {
      controller = watched;
    },
  };
}

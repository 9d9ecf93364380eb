import {
  definePlugin,
  describeRef,
  FLEET,
  z,
  type Fleet,
  type GlobalInput,
  type Log,
  type Outcome,
  type PluginDefinition,
  type RenderInput,
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

/** Without a cluster there is nobody else to tell what templates say about objects. */
class Warnings {
  #said: ReadonlySet<string> = new Set();

  /** Logs those that the plan before did not have. */
  report({ events }: RenderPlan, log: Log): void {
    const before = this.#said;
    this.#said = new Set(events.map((event) => JSON.stringify(event)));
    for (const event of events.filter((candidate) => !before.has(JSON.stringify(candidate)))) {
      const { object, reason, message } = event;
      log.warn({ reason, why: message }, `${describeRef(object)}: ${reason}`);
    }
  }
}

/** What templates saw in a render; that it is read once more is nobody's business. */
function globalInput(input: RenderInput): GlobalInput {
  const contents = { read: (key: string) => input.contents?.get(key) };
  return { ...input, settings: input.config.settings, contents };
}

/** Tells a reporter what the controller does: an observer like any other plugin. */
export function reporterPlugin(reporter: Reporter, url: string): Reporting {
  let controller: Controller | undefined;
  let serving = false;
  /** Id of the last plan that was taken back: that pods took it before is no news any more. */
  let takenBack: string | undefined;
  const warnings = new Warnings();

  function announce(fleet: Fleet, routes: ServedRoutes): void {
    const input = controller?.status().input;
    serving = true;
    reporter.serving({
      url,
      haproxyVersion: fleet.facts().haproxyVersion ?? 'unknown',
      routes: input === undefined ? [] : routes.list(globalInput(input)),
    });
  }

  const plugin = definePlugin({
    name: 'terminal',
    apiVersion: 1,
    options: z.strictObject({}),
    after: ['routing', 'deploy-agent'],
    setup({ name, hooks, use, log }) {
      const fleet = use(FLEET);
      const routes = use(SERVED_ROUTES);
      hooks.quarantined.tap(name, ({ added, changed, released }) => {
        for (const held of [...added, ...changed]) reporter.held(held);
        for (const object of released) reporter.released(object);
      });
      hooks.applied.tap(
        name,
        (plan: RenderPlan, outcomes: readonly Outcome[], { changes, sinceChangeMs }) => {
          const took = outcomes.filter(({ result }) => result !== 'rejected' && result !== 'unreachable');
          if (!serving && took.length > 0) return announce(fleet, routes);
          for (const outcome of outcomes) {
            const isNoNews = outcome.result === 'noop' || (plan.id === takenBack && took.includes(outcome));
            if (!isNoNews) reporter.applied({ plan, outcome, changes, durationMs: sinceChangeMs });
          }
        },
      );
      hooks.released.tap(name, ({ plan }) => warnings.report(plan, log));
      hooks.refused.tap(name, (refusal) => {
        if (refusal.stage !== 'validate' || refusal.takenBack === undefined) return;
        const { plan, verdict } = refusal;
        const findings = verdict.findings.filter(({ severity }) => severity === 'error');
        takenBack = plan.id;
        reporter.refused({ planId: plan.id, changes: refusal.takenBack.changes, findings });
      });
    },
  });
  return {
    plugin,
    watch(watched) {
      controller = watched;
    },
  };
}

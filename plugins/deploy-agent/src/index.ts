import {
  definePlugin,
  FLEET,
  KEPT_FOLDER,
  TERM,
  type MergedConfig,
  type PluginContext,
} from '@haptic/core/contract';
import { AgentFleet } from './agent-fleet.ts';
import { agentSchema, agentSettings, KEY } from './agent-settings.ts';
import { atMost } from './at-most.ts';
import { DiscoveredPods } from './discovered-pods.ts';
import { staticEndpoints } from './endpoints.ts';
import { Epoch } from './epoch.ts';
import { KnownPlans } from './known-plans.ts';
import { startLocalPod } from './local/local-pod.ts';
import { optionsSchema } from './options.ts';
import { PlanChunks } from './plan-chunks.ts';
import { PodSession } from './pod-session.ts';
import { measurePods, whatIsWrong } from './pod-states.ts';
import { Roster } from './roster.ts';
import { Rollout, type RolloutTerm } from './waves/rollout.ts';

/** Brings plans to the agents of the HAProxy pods, and what they report to the core. */
const deployAgent = definePlugin({
  name: 'deploy-agent',
  apiVersion: 1,
  options: optionsSchema,
  config: { key: KEY, schema: agentSchema },
  async setup(context, options) {
    const { log, clock, signal, meter } = context;
    const local = options.mode === 'local' ? await startLocalPod(options, { log, clock }) : undefined;
    if (local !== undefined) context.onDispose(() => local.stop());
    if (options.mode === 'local' && options.dir !== undefined) context.provide(KEPT_FOLDER, options.dir);

    let settings = agentSettings(options, undefined);
    const epoch = new Epoch(() => context.tryUse(TERM));
    const listeners = new Set<() => void>();
    const notify = (): void => {
      for (const listener of listeners) listener();
    };
    const changed = (): void => {
      measurePods(meter, roster.sessions);
      rollout.podsChanged();
      notify();
    };
    const plans = { plans: new KnownPlans(), chunks: new PlanChunks() };
    const shared = { ...plans, epoch, settings: () => settings, log, clock, changed };
    const roster = new Roster({
      open: (endpoint, left) => new PodSession({ ...shared, endpoint, left }),
      log,
      changed,
    });
    context.onDispose(() => roster.close());
    const term = (): RolloutTerm => {
      const current = context.tryUse(TERM)?.current();
      if (current === undefined) return { id: roster, signal };
      return { id: current.signal, signal: AbortSignal.any([signal, current.signal]) };
    };
    const rollout = new Rollout({ roster, settings: () => settings, clock, log, term, changed: notify });
    const counts = ({ hasAnswered, stops }: PodSession): boolean =>
      options.mode === 'static' || (options.mode === 'discover' && hasAnswered && !stops);
    const paths = local?.paths;
    context.provide(FLEET, new AgentFleet({ roster, rollout, listeners, clock, paths, counts }));
    context.health('agents', () => whatIsWrong(roster));
    // A session ends its attempts by itself: a deadline of the host's would cut off an apply that goes on in the agent.
    const tap = { name: context.name, deadlineMs: Infinity };
    context.hooks.deploy.tapPromise(tap, async (deployment, outcomes, call) => {
      await rollout.deploy(deployment, outcomes, AbortSignal.any([signal, call.signal]));
    });

    const discovered = options.mode === 'discover' ? new DiscoveredPods(options, context, roster) : undefined;
    followConfig(context, (merged) => {
      settings = agentSettings(options, merged);
      discovered?.listenAt(settings.port);
    });
    if (options.mode === 'static') roster.set(staticEndpoints(options, context));
    if (options.mode === 'static' && options.pods.length === 0)
      log.warn({}, 'the option "pods" names no HAProxy pods: nothing is deployed');
    if (local !== undefined) roster.set([local.endpoint]);
    // The children need a moment to start: until then a deployment would only meet a socket that is not there.
    if (local !== undefined) await firstAnswer(roster, context);
  },
});
export default deployAgent;

/** Tells of the first configuration there is, whether or not it is ever accepted, and from then on of each that is. */
function followConfig({ name, hooks }: PluginContext, use: (merged: MergedConfig) => void): void {
  let isFirst = true;
  hooks.merge.tap(name, (merged) => {
    if (isFirst) use(merged);
    isFirst = false;
    return merged;
  });
  hooks.configAccepted.tap(name, use);
}

/** Shorter than what the host allows a setup. */
const FIRST_ANSWER_MS = 8_000;

/** Waits for every pod, for a while: one that does not come up is reported by what is deployed to it. */
async function firstAnswer(
  { sessions }: Roster,
  { clock, signal }: Pick<PluginContext, 'clock' | 'signal'>,
): Promise<void> {
  const answers = Promise.all(sessions.map(({ answered }) => answered));
  await atMost(FIRST_ANSWER_MS, answers, clock, signal);
}

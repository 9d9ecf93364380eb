import { definePlugin, FLEET, KEPT_FOLDER, TERM, type PluginContext } from '@haptic/core/contract';
import { AgentFleet } from './agent-fleet.ts';
import type { AgentEndpoint } from './agent-client.ts';
import { Epoch } from './epoch.ts';
import { startLocalPod } from './local/local-pod.ts';
import { optionsSchema } from './options.ts';
import { PlanChunks } from './plan-chunks.ts';
import { staticEndpoints } from './static-endpoints.ts';
import { PodSession } from './pod-session.ts';
import { Rollout, type RolloutTerm } from './waves/rollout.ts';

/** Brings plans to the agents of the HAProxy pods, and what they report to the core. */
const deployAgent = definePlugin({
  name: 'deploy-agent',
  apiVersion: 1,
  options: optionsSchema,
  async setup(context, options) {
    const { log, clock, signal } = context;
    const local = options.mode === 'local' ? await startLocalPod(options, { log, clock }) : undefined;
    if (local !== undefined) context.onDispose(() => local.stop());
    if (options.mode === 'local' && options.dir !== undefined) context.provide(KEPT_FOLDER, options.dir);
    const endpoints: readonly AgentEndpoint[] =
      options.mode === 'static'
        ? staticEndpoints(options, context)
        : local === undefined
          ? []
          : [local.endpoint];
    if (endpoints.length === 0) log.warn({}, 'the option "pods" names no HAProxy pods: nothing is deployed');

    const epoch = new Epoch(() => context.tryUse(TERM)?.current());
    const listeners = new Set<() => void>();
    const notify = (): void => {
      for (const listener of listeners) listener();
    };
    const changed = (): void => {
      rollout.podsChanged();
      notify();
    };
    const { applyTimeout, poll, driftInterval, waves } = options;
    const chunks = new PlanChunks();
    const sessions = endpoints.map(
      (endpoint) =>
        new PodSession({ endpoint, epoch, applyTimeout, poll, driftInterval, chunks, log, clock, changed }),
    );
    const term = (): RolloutTerm => {
      const current = context.tryUse(TERM)?.current();
      if (current === undefined) return { epoch: 0, signal };
      return { epoch: current.epoch, signal: AbortSignal.any([signal, current.signal]) };
    };
    const rollout = new Rollout({ sessions, ...waves, clock, log, term, changed: notify });
    context.provide(FLEET, new AgentFleet(sessions, rollout, listeners, local?.paths));
    context.health('agents', () => {
      const silent = sessions.filter(({ state }) => state === undefined).map(({ name }) => name);
      return silent.length === 0 ? undefined : `no answer from ${silent.join(', ')}`;
    });
    const tap = { name: context.name, deadlineMs: deployDeadline(applyTimeout) };
    context.hooks.deploy.tapPromise(tap, async (deployment, outcomes, call) => {
      await rollout.deploy(deployment, outcomes, AbortSignal.any([signal, call.signal]));
    });

    const following = sessions.map((session) =>
      session.follow(signal).catch((error: unknown) => {
        if (!signal.aborted) log.error({ err: error, pod: session.name }, 'lost track of a pod');
      }),
    );
    context.onDispose(async () => {
      await Promise.all(following);
      await Promise.all(sessions.map((session) => session.close()));
    });
    // The children need a moment to start: until then a deployment would only meet a socket that is not there.
    if (local !== undefined) await firstAnswer(sessions, { clock, signal });
  },
});
export default deployAgent;

/**
 * A session ends its attempts by itself, one at a plan and perhaps one at its endpoints; the host's own deadline would cut off an
 * apply that goes on in the agent.
 */
function deployDeadline(applyTimeout: number): number {
  return 2 * (applyTimeout + 10_000);
}

/** Shorter than what the host allows a setup. */
const FIRST_ANSWER_MS = 8_000;

/** Waits for every pod, for a while: one that does not come up is reported by what is deployed to it. */
async function firstAnswer(
  sessions: readonly PodSession[],
  { clock, signal }: Pick<PluginContext, 'clock' | 'signal'>,
): Promise<void> {
  const waited = new AbortController();
  const late = clock.sleep(FIRST_ANSWER_MS, AbortSignal.any([signal, waited.signal])).catch(() => {});
  await Promise.race([Promise.all(sessions.map(({ answered }) => answered)), late]);
  waited.abort();
}

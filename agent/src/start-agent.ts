import { Host, noMeter, offer, RelayMeter, systemClock } from '@haptic/core/host';
import type { AgentOptions } from './agent-options.ts';
import { agentModules, type AgentModules } from './agent-modules.ts';
import { reportState } from './apply/report-state.ts';
import type { WorkerWatch } from './apply/worker-watch.ts';
import { lockFolder } from './files/folder-lock.ts';
import { createAgentHooks } from './hooks.ts';
import { CONFLICTS, DEFERRED_DELETES, GENERATION, INVARIANT_VIOLATIONS } from './metrics/definitions.ts';
import { LIMITS, type StateQuery } from './protocol/index.ts';
import { AGENT, type AgentService } from './services.ts';

export interface RunningAgent extends AsyncDisposable {
  readonly service: AgentService;
}

/**
 * @throws PluginError when a plugin cannot start; Refused, naming it, for a token or folder that will not do, or for a folder that another
 * agent works in.
 */
export async function startAgent(options: AgentOptions): Promise<RunningAgent> {
  const lock = await lockFolder(options.baseDir, 'haptic agent');
  try {
    const { service, stop } = await startLocked(options);
    return {
      service,
      [Symbol.asyncDispose]: async () => {
        await stop();
        await lock[Symbol.asyncDispose]();
      },
    };
  } catch (error) {
    await lock[Symbol.asyncDispose]();
    throw error;
  }
}

interface Started {
  readonly service: AgentService;
  readonly stop: () => Promise<void>;
}

async function startLocked(options: AgentOptions): Promise<Started> {
  const { log, clock = systemClock, plugins } = options;
  const stop = new AbortController();
  // The modules are there before the host; what they measure goes where a plugin of it wants it.
  const meter = new RelayMeter(noMeter, log, clock);
  const hooks = createAgentHooks();
  const modules = agentModules(options, { hooks, clock, meter, signal: stop.signal });
  const { applier, deferred, fence, waiters, watch } = modules;
  applier.recover();
  const stopLooking = lookEvery(options.watchInterval ?? 1_000, watch, (error) => {
    meter.count(INVARIANT_VIOLATIONS);
    log.error({ err: error }, 'cannot look after HAProxy');
  });
  const end = async (): Promise<void> => {
    stopLooking();
    stop.abort();
    waiters.wake();
    await applier.idle();
  };
  const service = agentService(options.version, modules);
  try {
    const services = [offer(AGENT, service)];
    const host = await Host.start({ hooks, observers: ['applied'], plugins, services, log, clock, meter });
    meter.gauge(GENERATION, fence.generation);
    meter.gauge(DEFERRED_DELETES, deferred.names.length);
    meter.count(INVARIANT_VIOLATIONS, {}, 0);
    return {
      service,
      stop: async () => {
        await host.close();
        await end();
      },
    };
  } catch (error) {
    await end();
    throw error;
  }
}

function agentService(agentVersion: string, modules: AgentModules): AgentService {
  const { applier, meter } = modules;
  return {
    apply: async (request) => {
      const reply = await applier.apply(request);
      if (reply.status === 409) meter.count(CONFLICTS, { reason: reply.body.reason });
      return reply;
    },
    state: async (query, signal) => {
      await untilChanged(query, modules, signal);
      return await reportState({ ...modules, agentVersion }, query, signal);
    },
  };
}

/** Holds a state request until there is something new to say. */
async function untilChanged(query: StateQuery, modules: AgentModules, signal: AbortSignal): Promise<void> {
  const { after, worker } = query;
  const { fence, waiters, watch, clock } = modules;
  if (after === undefined) return;
  const deadline = clock.now() + Math.min(query.waitMs, LIMITS.wait);
  const nothingNew = (): boolean =>
    fence.generation <= after && (worker === undefined || worker === watch.pid) && !signal.aborted;
  for (let left = deadline - clock.now(); left > 0 && nothingNew(); left = deadline - clock.now()) {
    await waiters.wait(left, signal);
  }
}

/** Looks now and then which worker is there, so that a long poll learns of a crash too. Returns how to stop. */
function lookEvery(interval: number, watch: WorkerWatch, failed: (error: unknown) => void): () => void {
  let looking = false;
  const timer = setInterval(() => {
    if (looking) return;
    looking = true;
    watch
      .observe()
      .catch(failed)
      .finally(() => {
        looking = false;
      });
  }, interval);
  return () => clearInterval(timer);
}

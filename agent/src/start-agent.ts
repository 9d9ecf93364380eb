import type { Clock, Log } from '@haptic/core/contract';
import { Host, offer, systemClock, type EnabledPlugin } from '@haptic/core/host';
import type { Durability } from './files/durable.ts';
import { PlanStore } from './files/plan-store.ts';
import { TreeStore } from './files/tree-store.ts';
import { Applier } from './apply/applier.ts';
import { Fence } from './apply/fence.ts';
import { Loader } from './apply/loader.ts';
import { reportState } from './apply/report-state.ts';
import { DeferredDeletes } from './runtime/deferred-deletes.ts';
import { Waiters } from './apply/waiters.ts';
import { WorkerChanges } from './apply/worker-changes.ts';
import { WorkerRecordFile } from './apply/worker-record.ts';
import { WorkerWatch } from './apply/worker-watch.ts';
import { AGENT, createAgentHooks, type AgentHooks, type AgentService } from './hooks.ts';
import { layout } from './protocol/index.ts';
import { LIMITS, type StateQuery } from './protocol/index.ts';
import type { Step } from './steps.ts';

export interface AgentOptions {
  /** All that the agent writes is below it, and in the socket folder. */
  readonly baseDir: string;
  readonly socketDir: string;
  readonly version: string;
  /** `api` at least; see `agentPlugins`. */
  readonly plugins: readonly EnabledPlugin<AgentHooks>[];
  readonly log: Log;
  readonly clock?: Clock;
  /** Milliseconds, 60 s. */
  readonly reloadTimeout?: number;
  /** Shortest time from one reload to the next in milliseconds, 0. */
  readonly reloadIntervalMin?: number;
  /** How long a request may still read what was taken out of a map for later requests, milliseconds, 30 s. */
  readonly longestResponse?: number;
  /** `power` syncs every write to the disk; the default holds against the death of processes. */
  readonly durability?: Durability;
  /** How often to look whether HAProxy is another process, milliseconds, 1 s. */
  readonly watchInterval?: number;
  /** Told of each step of an apply. */
  readonly onStep?: (step: Step) => void;
}

export interface RunningAgent extends AsyncDisposable {
  readonly service: AgentService;
}

/** @throws PluginError when a plugin cannot start; Refused, naming it, for a folder or token that will not do. */
export async function startAgent(options: AgentOptions): Promise<RunningAgent> {
  const { log, clock = systemClock, durability = 'process', onStep = () => {} } = options;
  const stop = new AbortController();
  const paths = layout(options.baseDir, options.socketDir);
  const trees = new TreeStore({ baseDir: options.baseDir, durability, onStep });
  const plans = new PlanStore(options.baseDir, durability);
  const fence = new Fence(options.baseDir, durability);
  const record = new WorkerRecordFile(options.baseDir, durability);
  const waiters = new Waiters();
  const watch = new WorkerWatch(paths, trees, record, (pid) => {
    log.info({ worker: pid }, pid === 0 ? 'HAProxy does not answer' : 'another HAProxy worker answers');
    waiters.wake();
  });
  const hooks = createAgentHooks();
  const common = { layout: paths, trees, plans, record, clock, log, onStep, signal: stop.signal };
  const deferred = new DeferredDeletes({
    socket: paths.workerSocket,
    clock,
    log,
    signal: stop.signal,
    changed: () => waiters.wake(),
  });
  const changes = new WorkerChanges({
    ...common,
    deferred,
    longestResponse: options.longestResponse ?? 30_000,
  });
  const loader = new Loader({
    ...common,
    deferred,
    reloadTimeout: options.reloadTimeout ?? 60_000,
    reloadIntervalMin: options.reloadIntervalMin ?? 0,
  });
  const applier = new Applier({
    ...common,
    fence,
    watch,
    changes,
    loader,
    waiters,
    verify: (request) => hooks.verify.promise(request),
    applied: (answer) => hooks.applied.call(answer),
  });
  const facts = {
    agentVersion: options.version,
    layout: paths,
    trees,
    plans,
    fence,
    watch,
    applier,
    deferred,
    clock,
  };
  const service: AgentService = {
    apply: (request) => applier.apply(request),
    state: async (query, signal) => {
      await untilChanged(query, { fence, waiters, watch, clock }, signal);
      return await reportState(facts, query, signal);
    },
  };
  if (record.value !== undefined) deferred.add(record.value.pid, record.value.deferred);
  applier.recover();
  const stopLooking = lookEvery(options.watchInterval ?? 1_000, watch, log);
  const end = async (): Promise<void> => {
    stopLooking();
    stop.abort();
    waiters.wake();
    await applier.idle();
  };
  try {
    const host = await Host.start({
      hooks,
      observers: ['applied'],
      plugins: options.plugins,
      services: [offer(AGENT, service)],
      log,
      clock,
    });
    return {
      service,
      [Symbol.asyncDispose]: async () => {
        await host.close();
        await end();
      },
    };
  } catch (error) {
    await end();
    throw error;
  }
}

interface Changes {
  readonly fence: Fence;
  readonly waiters: Waiters;
  readonly watch: WorkerWatch;
  readonly clock: Clock;
}

/** Holds a state request until there is something new to say. */
async function untilChanged(query: StateQuery, changes: Changes, signal: AbortSignal): Promise<void> {
  const { after, worker } = query;
  const { fence, waiters, watch, clock } = changes;
  if (after === undefined) return;
  const deadline = clock.now() + Math.min(query.waitMs, LIMITS.wait);
  const nothingNew = (): boolean =>
    fence.generation <= after && (worker === undefined || worker === watch.pid) && !signal.aborted;
  for (let left = deadline - clock.now(); left > 0 && nothingNew(); left = deadline - clock.now()) {
    await waiters.wait(left, signal);
  }
}

/** Looks now and then which worker is there, so that a long poll learns of a crash too. Returns how to stop. */
function lookEvery(interval: number, watch: WorkerWatch, log: Log): () => void {
  let looking = false;
  const timer = setInterval(() => {
    if (looking) return;
    looking = true;
    watch
      .observe()
      .catch((error: unknown) => log.error({ err: error }, 'cannot look after HAProxy'))
      .finally(() => {
        looking = false;
      });
  }, interval);
  return () => clearInterval(timer);
}
